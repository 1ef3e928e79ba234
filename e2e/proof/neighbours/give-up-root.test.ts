import { execFile } from 'node:child_process'
import { chown, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { canBeStranger, STRANGER, startStranger } from '../../support/start-stranger.ts'

const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts')
const run = promisify(execFile)

/**
 * The repository may lie in a folder that is closed to other users: then they cannot run Fairlead from there.
 */
async function canRunHere(): Promise<boolean> {
  if (!canBeStranger) return false
  const paths = JSON.stringify([process.execPath, main, enginesFolder()])
  await using stranger = startStranger(`import { accessSync } from 'node:fs'
    try { ${paths}.forEach((path) => accessSync(path)); console.log('can') } catch { console.log('cannot') }`)
  return (await stranger.says()) === 'can'
}

// invariant: Started as root on another user's home, no process of Fairlead stays root.
test.runIf(await canRunHere())(
  'started as root on the home of another user, all processes of Fairlead run as that user, engines too; root can stop it, but not take it over while it runs',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'fairlead-'))
    try {
      await chown(home, STRANGER, STRANGER)
      await using fairlead = await startFairlead({ home })
      const down = () => {
        const env = { PATH: process.env['PATH'], FAIRLEAD_HOME: home }
        return run(process.execPath, ['--conditions=@fairlead/source', main, 'down', '--all', '--yes'], {
          env,
        })
      }
      // The test process could not stop these itself: for root they are engines of another user.
      await using _ = { [Symbol.asyncDispose]: async () => void (await down()) }
      const { action_uid } = await fairlead.api.createDatabase({
        body: { name: 'rootless', memory_size: 0, data_persistence: 'aof' },
      })
      expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')

      const pids = [fairlead.agent.pid, fairlead.server.pid, ...(await pidsIn(home))]
      expect(pids).toHaveLength(4)
      for (const pid of pids) {
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        const ids = [...status.matchAll(/^(?:Uid|Gid|Groups):\s*(.*)$/gm)].flatMap(([, all = '']) =>
          all.trim().split(/\s+/),
        )
        expect([pid, ...new Set(ids)]).toEqual([pid, String(STRANGER)])
      }
      // Also within a wall, if the kernel lets users build one.
      const [node] = await fairlead.api.listNodes({})
      const engine = (await pidsIn(join(home, 'shards')))[0] ?? 0
      if (node?.engine_wall === true)
        expect(await readdir(join(`/proc/${engine}/root`, home))).toEqual(['shards'])
      else expect(node?.engine_wall_missing).not.toBe('')
      const files = await readdir(home, { recursive: true })
      const owners = await Promise.all(files.map(async (name) => (await stat(join(home, name))).uid))
      expect([...new Set(owners)]).toEqual([STRANGER])

      // If the home were given back to root while Fairlead runs, no process could serve from it.
      await fairlead.agent.end('SIGTERM')
      await chown(home, 12_345, 12_345)
      await expect(fairlead.agent.start()).rejects.toThrow('did not start')
      await chown(home, STRANGER, STRANGER)
      expect((await down()).stdout).toMatch(/^1 database process/m)
      expect(await pidsIn(home)).toEqual([])

      await chown(join(home, 'store.db'), 0, 0)
      await expect(down()).rejects.toThrow(`chown -R ${STRANGER}`)
      await chown(join(home, 'store.db'), STRANGER, STRANGER)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  },
)

/** Of engines and of the proxy: each works in a folder of its own. */
async function pidsIn(home: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
  return pids.filter((_, n) => places[n]?.startsWith(home)).map(Number)
}
