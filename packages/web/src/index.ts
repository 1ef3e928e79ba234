import { join } from 'node:path'

/** Where the built console lies: index.html, and what it loads. Nothing is there before it has been built. */
export const consoleFolder = join(import.meta.dirname, '../dist/console')
