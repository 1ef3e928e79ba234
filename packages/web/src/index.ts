import { join } from 'node:path'

/** Folder of the built console: index.html and its files. Empty before the build. */
export const consoleFolder = join(import.meta.dirname, '../dist/console')
