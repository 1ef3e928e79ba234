import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { consoleFolder } from '@fairlead/web'
import { expect, test } from 'vitest'

/** Of all files with this ending, compressed. */
function sizeOf(ending: string): number {
  const folder = join(consoleFolder, 'assets')
  const files = readdirSync(folder).filter((name) => name.endsWith(`${ending}.gz`))
  expect(files).not.toEqual([])
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

test('all script of the console has less than 215 kB compressed, and all style less than 20 kB', () => {
  expect(sizeOf('.js')).toBeLessThan(215_000)
  expect(sizeOf('.css')).toBeLessThan(20_000)
})
