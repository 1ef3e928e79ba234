import { lstatSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { withoutWall } from '../../../src/engine/engine-wall.ts'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { serverFolder, writeNote } from '../../../src/server/server-folder.ts'
import { shareSockets } from '../../../src/server/share-sockets.ts'
import { withoutRootOf } from '../../../src/server/without-root-of.ts'

test.runIf(process.getuid?.() === 0)(
  'shared names that several calls update at once lead to the present socket, and nothing is logged',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'sockets-'))
    const socket = join(home, 'run', 'agent.sock')
    mkdirSync(dirname(socket))
    const said: string[] = []
    const logger = pino({ base: null }, { write: (line: string) => void said.push(line) })
    try {
      const sockets = await shareSockets(home, socket, logger)
      const shared = join(serverFolder(home).sockets, 'agent.sock')
      for (let restart = 0; restart < 10; restart += 1) {
        const server = createServer()
        await new Promise<void>((resolve) => server.listen(socket, resolve))
        await Promise.all(Array.from({ length: 4 }, () => sockets.keep()))
        expect(lstatSync(shared).ino).toBe(lstatSync(socket).ino)
        await new Promise((resolve) => server.close(resolve))
      }
      expect(said).toEqual([])
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  },
)

test.runIf(process.getuid?.() === 0)(
  'without walls, of the requests of a server of another user only what ran as root before runs as root',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'sockets-'))
    try {
      const wall = withoutRootOf(withoutWall('off'), home)
      const start = { program: '/bin/true', args: [], modules: [] }
      const command = (ranOutside: boolean) =>
        wall.command(shardFolder(home, 'a-1'), { ...start, ranOutside })
      expect(await command(false)).toMatchObject({ within: false })
      // The server has moved in: it is another user.
      await writeNote(join(home, 'store.db'))
      await expect(command(false)).rejects.toThrow('start the server again')
      expect(await command(true)).toMatchObject({ within: false })
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  },
)
