import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { createClient } from 'redis'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { pidOf } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { untilAction } from '../../../proof/way-back.ts'

const { from, to } = usualPair()

/** A client, or a batch of commands, with the scripts of this test as commands of their own. */
interface Batch {
  addjob(key: string, job: string): Batch & Promise<unknown>
  shout(key: string, text: string): Batch & Promise<unknown>
  append(key: string, text: string): Batch
  incr(key: string): Batch
  get(key: string): Batch & Promise<unknown>
  exec(): Promise<unknown>
}
interface Scripted extends Batch {
  multi(): Batch
  pipeline(): Batch
}

const scripts = {
  addjob: "return redis.call('RPUSH', KEYS[1], ARGV[1])",
  shout: "return redis.call('APPEND', KEYS[1], ARGV[1] .. '!')",
}
const hello = "return 'hello ' .. ARGV[1]"

/**
 * These libraries remember for a connection which scripts its engine knows, and call them by hash from then
 * on.
 */
const libraries: Readonly<Record<string, typeof Redis>> = {
  ioredis: Redis,
  // A fork: it has the same interface, and types of its own.
  iovalkey: Valkey as unknown as typeof Redis,
}

// invariant: Scripts that clients have loaded are at the new primary before the clients.
test.for([1, 2])(
  'scripts are at the new primary before clients are: database of %i group(s)',
  async (groups) => {
    await using fairlead = await startFairlead()
    const { api } = fairlead
    const sharded = groups > 1 && { shards_count: groups }
    const created = await api.createDatabase({
      body: { name: 'scripted', memory_size: 0, replication: true, engine_version: from, ...sharded },
    })
    await fairlead.untilEnded(created.action_uid)
    const database = await api.getDatabase({ params: { uid: created.uid } })
    const { uid, port, authentication_engine_pass: password = '' } = database
    await using stack = new AsyncDisposableStack()
    const clients = Object.entries(libraries).map(([name, Library]) => {
      const client = new Library({
        host: '127.0.0.1',
        port,
        username: 'default',
        password,
        showFriendlyErrorStack: true,
      })
      for (const [command, lua] of Object.entries(scripts))
        client.defineCommand(command, { numberOfKeys: 1, lua })
      stack.defer(() => client.disconnect())
      return { tag: `{${name}}`, client: client as unknown as Scripted }
    })
    const other = createClient({ url: `redis://127.0.0.1:${port}`, password })
    // It connects again by itself.
    other.on('error', () => undefined)
    await other.connect()
    stack.defer(() => other.destroy())
    const sha = await other.scriptLoad(hello)
    for (const { tag, client } of clients) await client.addjob(`${tag}jobs`, 'first')

    const check = async (times: number) => {
      for (const { tag, client } of clients) {
        const both = await client.multi().addjob(`${tag}jobs`, 'next').incr(`${tag}n`).exec()
        expect(both).toEqual([
          [null, times + 1],
          [null, times],
        ])
      }
      // Of any group: SCRIPT LOAD concerns the whole database.
      for (const key of ['{a}', '{b}', '{c}'])
        expect(await other.evalSha(sha, { keys: [key], arguments: ['you'] })).toBe('hello you')
    }
    await check(1)
    if (groups > 1) {
      // The endpoint does not believe what a script says about slots, and counts it in its stats.
      const forged = "return redis.error_reply('MOVED 15495 127.0.0.1:1')"
      await expect(other.eval(forged, { keys: ['{a}'] })).rejects.toThrow('MOVED 15495')
      const stats = async () => await api.getEndpointStats({ params: { uid } })
      await until('the doubt is counted', async () => (await stats()).doubted === 1)
      expect((await stats()).doubted_last).toMatch(/^a script .* slot 15495 /)
    }
    const upgrade = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, rollback_window: 'until_finalized' },
    })
    const action = upgrade.action_uid ?? ''
    await untilAction(fairlead, action, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
      return needs_person && rollback_eligible === true
    })
    await check(2)

    // A script that the old primary has never seen goes back with the role.
    for (const { tag, client } of clients) await client.shout(`${tag}text`, 'a')
    await api.rollbackAction({ params: { uid: action } })
    expect(await fairlead.untilEnded(action)).toMatchObject({ error: expect.stringMatching(/rolled back/) })
    for (const { tag, client } of clients) {
      // In the order in which they were sent.
      await client
        .pipeline()
        .append(`${tag}text`, 'b')
        .shout(`${tag}text`, 'c')
        .append(`${tag}text`, 'd')
        .exec()
      expect(await client.get(`${tag}text`)).toBe('a!bc!d')
    }
    await check(3)
    if (groups > 1) return

    // No handover: the process of the primary is killed.
    const primaryOf = async () => {
      const shards = await api.listDatabaseShards({ params: { uid } })
      return Number(shards.find(({ role }) => role === 'master')?.uid)
    }
    const before = await primaryOf()
    process.kill(await pidOf(fairlead, before), 'SIGKILL')
    await until('the replica is the primary', async () => (await primaryOf()) !== before)
    await until('it serves', async () => (await other.get('any').catch(() => 'not yet')) === null)
    await check(4)
  },
)
