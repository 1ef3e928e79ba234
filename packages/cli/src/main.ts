#!/usr/bin/env node
/** Entry of the whole command line. */
import { start } from './start.ts'

await start(async () => (await import('./run-whole.ts')).runWhole)
