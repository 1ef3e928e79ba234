import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin, pidOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const kinds = [
  {
    persistence: 'aof',
    file: /incr\.aof$/,
    damage: (path: string) => writeFileSync(path, '*3\r\n$3\r\nSET\r\n$1\r\nk\r\nno length\r\n'),
    words: /Bad file format/,
  },
  {
    persistence: 'snapshot',
    file: /dump\.rdb$/,
    damage: (path: string) => truncateSync(path, 40),
    words: /Unexpected EOF/,
  },
] as const

const within = { withinMs: 60_000 }

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

// invariant: A database whose files cannot be read reports its engine's words.
test.each(kinds)(
  'a database whose file is damaged says so, in the words of its engine, until the file is repaired: $persistence',
  async ({ persistence, file, damage, words }) => {
    const { api, agent, home } = fairlead
    const { uid, action_uid } = await api.createDatabase({
      body: {
        name: freshName('damaged'),
        memory_size: 0,
        data_persistence: persistence,
        engine_version: build('valkey', '8.1'),
      },
    })
    await fairlead.untilEnded(action_uid)
    const [shard = 0] = (await api.getDatabase({ params: { uid } })).shard_list
    const pid = await fill(shard)
    // Its agent must not start it again before its file is damaged.
    process.kill(agent.pid, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    const path = findFile(join(home, 'shards', `s${shard}`, 'data'), file)
    copyFileSync(path, join(home, 'sound'))
    damage(path)
    process.kill(agent.pid, 'SIGCONT')
    const isTold = async () => {
      const database = await api.getDatabase({ params: { uid } })
      return database.status_reason !== '' && database
    }
    const told = await until('the obstacle is reported', isTold, within)
    expect(told).toMatchObject({ status: 'recovery', status_reason: expect.stringMatching(words) })
    expect(told.status_reason).toContain(`shard ${shard},`)

    copyFileSync(join(home, 'sound'), path)
    const isWhole = async () => {
      const { status, status_reason } = await api.getDatabase({ params: { uid } })
      return status === 'active' && status_reason === ''
    }
    await until('it serves again', isWhole, within)
    using admin = await asAdmin(fairlead, shard)
    expect(await admin.call('GET', 'kept')).toBe('yes')
  },
)

// invariant: A process with the only copy of data rewrites its files before a restart in place.
test.each([
  { persistence: 'aof', file: /base\.rdb$/, save: 'BGREWRITEAOF' },
  { persistence: 'snapshot', file: /dump\.rdb$/, save: 'BGSAVE' },
] as const)(
  'a file that is damaged while its engine runs costs nothing when that engine restarts in place: $persistence',
  async ({ persistence, file, save }) => {
    // Less than what any surge shard needs.
    await using small = await startFairlead({ env: { FAIRLEAD_NODE_MEMORY_MB: '90' } })
    const { uid, action_uid } = await small.api.createDatabase({
      body: {
        name: freshName('rotten'),
        memory_size: 0,
        data_persistence: persistence,
        engine_version: build('redis', '7.0'),
      },
    })
    await small.untilEnded(action_uid)
    {
      using admin = await asAdmin(small, 1)
      await admin.call('EVAL', "for n = 1, 1000 do redis.call('SET', n, ('x'):rep(50)) end", 0)
      await admin.call(save)
      await until(
        'it is written',
        async () => !/(progress|scheduled):1/.test(await admin.info('persistence')),
      )
    }
    spoil(findFile(join(small.home, 'shards', 's1', 'data'), file))
    const upgrade = await small.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: build('valkey', '8.1') },
    })
    const { status, error } = await small.untilEnded(upgrade.action_uid)
    expect(status, error).toBe('completed')
    using admin = await asAdmin(small, 1)
    expect(await admin.call('DBSIZE')).toBe(1000)
  },
)

/** Changes bytes in the middle of a file. */
function spoil(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(200, 0xff), 0, 200, Math.floor(statSync(path).size / 2))
  closeSync(file)
}

/** Writes a key, and waits until it is on the disk of a shard. Answers the process. */
async function fill(shard: number): Promise<number> {
  using admin = await asAdmin(fairlead, shard)
  await admin.call('SET', 'kept', 'yes')
  await admin.call('SAVE')
  return await pidOf(fairlead, shard)
}

function findFile(folder: string, name: RegExp): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) => name.test(path))
  if (found === undefined) throw new Error(`no ${name} in ${folder}`)
  return join(folder, found)
}
