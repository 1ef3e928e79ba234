import { chmodSync, existsSync, mkdirSync, utimesSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { expect, test } from 'vitest'
import { proxyFolder } from './proxy-folder.ts'
import { createProxyWall } from './proxy-wall.ts'

test.runIf(process.getuid?.() === 0)(
  'a proxy whose code other users cannot read runs as root on a home without a former walled proxy, and is not started otherwise; both messages name the command that helps',
  async () => {
    const [home, code] = [await mkdtemp('/var/tmp/home-'), await mkdtemp('/var/tmp/code-')]
    try {
      const main = join(code, 'main.mjs')
      await writeFile(join(code, 'package.json'), '{}')
      await writeFile(main, '')
      const lines: string[] = []
      const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) })
      const folder = proxyFolder(home)
      await folder.create()
      const wallFor = (missing: string | null) => {
        const wall = createProxyWall({ home, engines: { missing }, lowPorts: false, logger })
        return { ...wall, place: () => wall.place(folder, [process.execPath, main], false) }
      }
      const outside = { program: process.execPath, folder: folder.path }
      const wayOut = `other users cannot read ${code}; this opens it: chmod -R go+rX ${code}`

      // mkdtemp has made its folder as `umask 077` makes all: no process has to crash first.
      expect(await wallFor(null).place()).toMatchObject(outside)
      expect(lines.join()).toContain(wayOut)
      chmodSync(code, 0o755)
      mkdirSync(join(folder.path, 'check-killed'))
      utimesSync(join(folder.path, 'check-killed'), new Date(0), new Date(0))
      const wall = wallFor(null)
      expect(await wall.place()).toMatchObject({ program: 'unshare', folder: folder.own })
      expect(existsSync(join(folder.path, 'check-killed'))).toBe(false)

      // It has not answered yet: it may be unable to run there.
      chmodSync(code, 0o700)
      expect(await wall.place()).toMatchObject(outside)
      chmodSync(main, 0o600)
      chmodSync(code, 0o755)
      expect(await wallFor(null).place()).toMatchObject(outside)
      expect(lines.at(-1)).toContain(`chmod -R go+rX ${main}`)
      chmodSync(main, 0o644)

      const last = wallFor(null)
      await last.place()
      await last.answers(folder)
      chmodSync(code, 0o700)
      const words = 'A proxy has run within a wall on this home, so none is started as root.'
      await expect(wallFor(null).place()).rejects.toThrow(`${wayOut}. ${words}`)
      chmodSync(code, 0o755)
      expect(await wallFor(null).place()).toMatchObject({ program: 'unshare' })
      expect(await wallFor('FAIRLEAD_ENGINE_WALL is off').place()).toMatchObject(outside)
    } finally {
      for (const path of [home, code]) await rm(path, { recursive: true })
    }
  },
)
