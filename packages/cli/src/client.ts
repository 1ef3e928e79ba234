#!/usr/bin/env node
/** The entry of the package that is the client alone. */
import { start } from './start.ts'

await start(async () => (await import('./run-client-alone.ts')).runClientAlone)
