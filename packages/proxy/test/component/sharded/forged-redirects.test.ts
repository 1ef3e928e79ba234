import { hashSlot } from '@fairlead/engine'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ANSWER_MS } from '../../../src/sharded/ask-slots.ts'
import { openRogue, type Rogue, wordsOfEngines } from '../../rogue.ts'
import { type Cluster, keyOf, makeCluster } from '../../sharded-stage.ts'
import { builds, dial, newest, type RawClient, until } from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

const [zero, one, two] = keyOf
const slotOf = (key: string) => hashSlot(Buffer.from(key))
const ok = '+OK\r\n'

/** Counts its calls, and then answers with any error. */
const says = "redis.call('INCR', KEYS[1]) return redis.error_reply(ARGV[1])"
const saysInList = "redis.call('INCR', KEYS[1]) return {1, {redis.error_reply(ARGV[1])}}"
const library = `#!lua name=l\\nredis.register_function('says', function(KEYS, ARGV) ${says} end)`
const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`
const request = (...words: readonly string[]) => `*${words.length}\r\n${words.map(bulk).join('')}`

/** Another client of the database: signed in, named, connected to all groups; none of that may change. */
async function beVictim(cluster: Cluster): Promise<{ readonly client: RawClient; check(): Promise<void> }> {
  for (const engine of cluster.primaries) await engine.admin('ACL SETUSER ann on >secret-of-ann ~* &* +@all')
  const client = await dial(cluster.port)
  await client.ask('AUTH ann secret-of-ann', ok)
  await client.ask('CLIENT SETNAME victim', ok)
  for (const key of keyOf) await client.ask(`SET ${key}v true`, ok)
  const links = async () => {
    const lists = await Promise.all(cluster.primaries.map((engine) => engine.admin('CLIENT LIST')))
    return lists.map((list) => /^.*?id=(\d+) [^\n]*name=victim /m.exec(list)?.[1] ?? 'gone')
  }
  const before = await links()
  return {
    client,
    async check() {
      for (const key of keyOf) await client.ask(`GET ${key}v`, '$4\r\ntrue\r\n')
      expect(await links()).toEqual(before)
    },
  }
}

/** Each case with one of the protocols. */
const oldest = builds.at(0) ?? newest

describe.for([
  [oldest, 2],
  [newest, 3],
] as const)('on %s, RESP%d', ([build, protocol]) => {
  let cluster: Cluster
  let rogue: Rogue
  let words: readonly string[]
  beforeAll(async () => {
    cluster = await makeCluster({ build })
    rogue = await openRogue()
    // A rogue process's port, and that of another group.
    words = wordsOfEngines(slotOf(zero), [rogue.port, cluster.primaries[1]?.port ?? 0])
  })
  afterAll(async () => {
    await rogue[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  test('any error of a script goes to its client only', async () => {
    const victim = await beVictim(cluster)
    await using attacker = await dial(cluster.port)
    if (protocol === 3) {
      attacker.send('HELLO 3\r\n')
      await until(() => /modules.*\*0\r\n$/s.test(attacker.text()))
      await attacker.gets(attacker.text())
    }
    await attacker.ask('FLUSHALL', ok)
    for (const key of keyOf) await attacker.ask(`SET ${key}v true`, ok)
    attacker.send(request('FUNCTION', 'LOAD', 'REPLACE', library.replace('\\n', '\n')))
    await attacker.gets(bulk('l'))
    attacker.send(request('SCRIPT', 'LOAD', says))
    await until(() => attacker.text().length === 47)
    const sha = attacker.text().slice(5, 45)
    await attacker.gets(bulk(sha))

    let count = 0
    const shards = JSON.stringify(cluster.endpoint.wanted.shards)
    for (const word of words) {
      const nested = `*2\r\n:1\r\n*1\r\n-${word}\r\n`
      // In one pipeline: a script alone, by its hash, as a function, in a list, in a transaction; and
      // requests after these.
      const calls = [
        request('EVAL', says, '1', zero, word),
        request('EVALSHA', sha, '1', zero, word),
        request('FCALL', 'says', '1', zero, word),
        request('EVAL', saysInList, '1', zero, word),
        request('MULTI'),
        request('EVALSHA', sha, '1', zero, word),
        request('FCALL', 'says', '1', zero, word),
        request('EXEC'),
        request('EVAL', 'return redis.error_reply(ARGV[1])', '0', word),
        request('CLIENT', 'REPLY', 'SKIP'),
        request('EVAL', says, '1', zero, word),
        request('GET', `${one}v`),
        request('GET', zero),
      ]
      attacker.send(calls.join(''))
      count += 7
      const error = `-${word}\r\n`
      await attacker.gets(
        `${error.repeat(3)}${nested}${ok}+QUEUED\r\n+QUEUED\r\n*2\r\n${error.repeat(2)}${error}${bulk('true')}${bulk(String(count))}`,
      )
    }
    await victim.check()
    victim.client.socket.destroy()
    expect(rogue.came).toEqual([])
    expect(JSON.stringify(cluster.endpoint.wanted.shards)).toBe(shards)
    const { repoints, errors, doubted } = cluster.endpoint.report()
    expect({ repoints, errors }).toEqual({ repoints: 0, errors: 0 })
    expect(doubted?.why).toMatch(/^a script or a transaction at .* said that slot \d+ is elsewhere$/)
  })
})

describe('if roles move without the endpoint', () => {
  const tryAgain = '-TRYAGAIN The slot of this key has just moved\r\n'
  let cluster: Cluster
  let client: RawClient
  beforeAll(async () => {
    cluster = await makeCluster({ withReplicas: true })
    client = await dial(cluster.port)
  })
  afterAll(async () => {
    client.socket.destroy()
    await cluster[Symbol.asyncDispose]()
  })
  // Where the machine stalls, an engine tells too late where a slot is: then a client gets the redirect
  // itself.
  beforeEach(() => void holdTimers(ANSWER_MS))
  afterEach(() => vi.restoreAllMocks())

  // invariant: No reply to a client decides where requests go.
  test('no redirect is followed to an address that does not belong to the database', async () => {
    const given = cluster.shards.map(({ upstream }) => upstream)
    cluster.endpoint.know(given)
    await client.ask(`SET ${zero} 1`, ok)
    const port = await cluster.moveRole(0)
    await client.ask(`INCR ${zero}`, tryAgain)
    expect(cluster.endpoint.report()).toMatchObject({
      repoints: 0,
      doubted: {
        count: 1,
        why: expect.stringMatching(`127.0.0.1:${port}, which is no shard of this database`),
      },
    })
    const all = [...cluster.primaries, ...cluster.replicas]
    cluster.endpoint.know(all.map((engine) => ({ host: '127.0.0.1', port: engine.port })))
    await client.ask(`INCR ${zero}`, ':2\r\n')
    expect(cluster.endpoint.report().repoints).toBe(1)
  })

  test('scripts get the error TRYAGAIN, and find the key at the next try', async () => {
    const count = request('EVAL', "return redis.call('INCR', KEYS[1])", '1', one)
    client.send(count)
    await client.gets(':1\r\n')
    const port = await cluster.moveRole(1)
    client.send(count)
    await client.gets(tryAgain)
    client.send(count)
    await client.gets(':2\r\n')
    expect(cluster.endpoint.wanted.shards?.[1]?.upstream.port).toBe(port)
  })

  test('so are transactions', async () => {
    await client.ask(`SET ${two} 0`, ok)
    await cluster.moveRole(2)
    client.send(`MULTI\r\nINCR ${two}\r\nEXEC\r\nINCR ${two}\r\n`)
    const aborted = '-EXECABORT Transaction discarded because of previous errors.\r\n'
    await client.gets(`+OK\r\n${tryAgain}${aborted}:1\r\n`)
  })
})
