import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pidOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { canBeStranger } from '../../support/start-stranger.ts'

const FIRST = 1_900_131_072
const LAST = FIRST + 65_535

test.runIf(canBeStranger)(
  'a server that runs as another user goes on with the home of a server of root, and sees only its own folder and two sockets; engines and proxy keep running; and root can serve it again',
  async () => {
    await using fairlead = await startFairlead({ env: { FAIRLEAD_SERVER_WALL: 'off' } })
    const { home, api, server } = fairlead
    expect(userOf(server.pid)).toBe(0)
    const { uid, action_uid } = await api.createDatabase({ body: { name: 'moves', memory_size: 0 } })
    expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
    const before = await processesOf(fairlead)

    await server.end('SIGKILL')
    await server.start({ FAIRLEAD_SERVER_WALL: 'on' })
    const user = userOf(server.pid)
    expect([user >= FIRST, user <= LAST]).toEqual([true, true])
    const rights = ['Groups', 'NoNewPrivs', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']
    expect(statusOf(server.pid, rights).map(Number)).toEqual([0, 1, 0, 0, 0, 0, 0])
    const inside = (...names: string[]) => readdirSync(join(`/proc/${server.pid}/root`, home, ...names))
    expect([inside(), inside('server'), inside('proxy'), inside('server', 'doors')]).toEqual([
      ['proxy', 'server'],
      ['doors', 'own'],
      ['shards'],
      ['agent.sock', 'proxy.sock'],
    ])
    // It also could not outside of the wall: a process of this user reads nothing either.
    for (const name of ['store.db', 'run/agent.sock', 'proxy', 'shards/s1/wanted.json', 'server/user'])
      expect([name, spawnSync('cat', [join(home, name)], { uid: user, gid: user }).status]).toEqual([name, 1])
    expect(lstatSync(join(home, 'server', 'own', 'store.db')).uid).toBe(user)

    // It reaches the agent, the proxy and the engine: an order goes through all of them.
    expect(await processesOf(fairlead)).toEqual(before)
    const upgrade = await api.upgradeDatabase({ params: { uid }, body: { force_restart: true } })
    expect((await fairlead.untilEnded(upgrade.action_uid)).status).toBe('completed')

    await server.end('SIGTERM')
    await server.start({ FAIRLEAD_SERVER_WALL: 'off' })
    expect([userOf(server.pid), lstatSync(join(home, 'store.db')).uid]).toEqual([0, 0])
    expect((await api.getDatabase({ params: { uid } })).status).toBe('active')
  },
)

async function processesOf(fairlead: Fairlead) {
  const { identity } = JSON.parse(readFileSync(join(fairlead.home, 'proxy', 'process.json'), 'utf8')) as {
    identity: { pid: number }
  }
  return [await pidOf(fairlead, 1), identity.pid]
}

function userOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid
}

function statusOf(pid: number, names: readonly string[]): readonly string[] {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return names.map((name) => (new RegExp(`^${name}:[\\t ]*(.*)$`, 'm').exec(text)?.[1] ?? 'none').trim())
}
