import { chmod, lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { canBeStranger, startStranger } from '../../support/start-stranger.ts'

// invariant: Another user can neither enter nor read FAIRLEAD_HOME.
test.runIf(canBeStranger)(
  'of the home of a running Fairlead another user of the machine can enter nothing and read nothing, whatever umask it was started with',
  async () => {
    const before = process.umask(0)
    try {
      await using fairlead = await startFairlead()
      const { home, api } = fairlead
      const { action_uid } = await api.createDatabase({
        body: {
          name: 'private',
          memory_size: 0,
          replication: true,
          data_persistence: 'aof',
          tls_mode: 'enabled',
        },
      })
      expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
      expect(await modeOf(home)).toBe(0o700)

      const all = (await readdir(home, { recursive: true, withFileTypes: true }))
        // The mode of a symbolic link means nothing.
        .filter((entry) => !entry.isSymbolicLink())
        .map((entry) => relative(home, join(entry.parentPath, entry.name)))
      expect(all).toEqual(
        expect.arrayContaining(['store.db', 'run/agent.sock', 'shards/s1/engine.conf', 'proxy/proxy.log']),
      )
      expect(all.filter((name) => name.endsWith('/proxy.lock'))).toHaveLength(1)
      expect(all.filter((name) => name.endsWith('store.db-wal'))).toHaveLength(1)
      const modes = await Promise.all(
        all.map(async (name) => [name, await modeOf(join(home, name))] as const),
      )
      // Proxy and server may be other users and need these within their walls. The files hold no secret, and
      // the folders around them are closed.
      const forTheProxy = ['proxy/shards', 'proxy/shards/users.json', 'server/doors']
      expect(
        modes
          .filter(([name, mode]) => (mode & 0o077) !== 0 && !forTheProxy.includes(name))
          .map(([name, mode]) => [name, mode.toString(8)]),
      ).toEqual([])
      expect(modes.filter(([name, mode]) => forTheProxy.includes(name) && (mode & 0o022) !== 0)).toEqual([])

      // Each lock must be closed by itself, because a home may be opened to others by mistake.
      await chmod(home, 0o755)
      await using stranger = startStranger(walk(home))
      expect(JSON.parse(await stranger.says())).toEqual([])
    } finally {
      process.umask(before)
    }
  },
)

async function modeOf(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777
}

/** Prints everything below `home` that it can list or read. */
const walk = (home: string) => `import { readdirSync, readFileSync } from 'node:fs'
const open = []
const look = (path, isHome) => {
  try { const names = readdirSync(path); if (!isHome) open.push(path); for (const name of names) look(path + '/' + name) }
  catch (cause) { if (cause.code === 'ENOTDIR') try { readFileSync(path); open.push(path) } catch {} }
}
look(${JSON.stringify(home)}, true)
console.log(JSON.stringify(open))
`
