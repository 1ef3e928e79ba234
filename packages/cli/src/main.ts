#!/usr/bin/env node
/** The entry of the whole command line. */
import { start } from './start.ts'

await start(async () => (await import('./run-whole.ts')).runWhole)
