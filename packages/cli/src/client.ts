#!/usr/bin/env node
/** Entry of the client-only package. */
import { start } from './start.ts'

await start(async () => (await import('./run-client-alone.ts')).runClientAlone)
