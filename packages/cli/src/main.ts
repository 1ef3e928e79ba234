#!/usr/bin/env node
import { start } from './start.ts'

await start(async () => (await import('./run-whole.ts')).runWhole)
