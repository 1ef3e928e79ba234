import { hashSlot } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRogue, type Rogue } from '../../rogue.ts'
import { type Cluster, keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, newest, type RawClient, until } from '../../stage.ts'

const [zero, one] = keyOf
const ok = '+OK\r\n'
const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`
const request = (...words: readonly string[]) => `*${words.length}\r\n${words.map(bulk).join('')}`

let cluster: Cluster
let rogue: Rogue
let client: RawClient
/** Redirects to a rogue process, and to another group of the same database. */
let words: readonly string[]
beforeAll(async () => {
  cluster = await makeCluster({ build: newest })
  rogue = await openRogue()
  const slot = hashSlot(Buffer.from(zero))
  words = [rogue.port, cluster.primaries[1]?.port ?? 0].flatMap((port) => [
    `MOVED ${slot} 127.0.0.1:${port}`,
    `ASK ${slot} 127.0.0.1:${port}`,
  ])
  client = await dial(cluster.port)
  await client.ask(`SET ${one} true`, ok)
})
afterAll(async () => {
  client.socket.destroy()
  await rogue[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** Whatever was said: nothing was asked of the rogue process, and no group has another engine. */
async function nothingHasMoved(shards: string): Promise<void> {
  await client.ask(`GET ${one}`, '$4\r\ntrue\r\n')
  expect(rogue.came).toEqual([])
  expect(JSON.stringify(cluster.endpoint.wanted.shards)).toBe(shards)
  expect(cluster.endpoint.report()).toMatchObject({ repoints: 0, errors: 0 })
}

/** A client that has said HELLO 3. */
async function dialNewer(): Promise<RawClient> {
  const newer = await dial(cluster.port)
  newer.send('HELLO 3\r\n')
  await until(() => /modules.*\*0\r\n$/s.test(newer.text()))
  await newer.gets(newer.text())
  return newer
}

test('a redirect within any form of RESP3 that a script can return goes to its client only', async () => {
  const shards = JSON.stringify(cluster.endpoint.wanted.shards)
  await using newer = await dialNewer()
  for (const word of words) {
    // Each with what the client gets.
    const forms: readonly (readonly [string, string])[] = [
      ["return {verbatim_string={format='txt', string=ARGV[1]}}", `=${word.length + 4}\r\ntxt:${word}\r\n`],
      ['return {map={[ARGV[1]]=redis.error_reply(ARGV[1])}}', `%1\r\n${bulk(word)}-${word}\r\n`],
      ['return {set={[ARGV[1]]=true}}', `~1\r\n${bulk(word)}`],
      ['return redis.status_reply(ARGV[1])', `+${word}\r\n`],
      ['return {err=ARGV[1]}', `-${word}\r\n`],
      ['return {{{redis.error_reply(ARGV[1])}}, ARGV[1]}', `*2\r\n*1\r\n*1\r\n-${word}\r\n${bulk(word)}`],
    ]
    for (const [returns, reply] of forms)
      for (const command of ['EVAL', 'EVAL_RO']) {
        newer.send(request(command, `redis.setresp(3) ${returns}`, '1', zero, word))
        await newer.gets(reply)
      }
    // The engine's own word for what the script has asked names the redirect, too.
    newer.send(request('EVAL', 'return redis.call(ARGV[1], KEYS[1])', '1', zero, word))
    await until(() => newer.text().endsWith('\r\n'))
    expect(newer.text()).toMatch(/^-(ERR|MOVED|ASK) /)
    await newer.gets(newer.text())
  }
  await nothingHasMoved(shards)
})

test('nor do read-only scripts and functions, alone or in a transaction', async () => {
  const shards = JSON.stringify(cluster.endpoint.wanted.shards)
  const library =
    "#!lua name=f\nredis.register_function{function_name='says_ro', callback=function(k, a) return redis.error_reply(a[1]) end, flags={'no-writes'}}"
  await using attacker = await dial(cluster.port)
  attacker.send(request('FUNCTION', 'LOAD', 'REPLACE', library))
  await attacker.gets(bulk('f'))
  for (const word of words) {
    const says = 'return redis.error_reply(ARGV[1])'
    const calls = [
      request('EVAL_RO', says, '1', zero, word),
      request('FCALL_RO', 'says_ro', '1', zero, word),
      request('MULTI'),
      request('FCALL_RO', 'says_ro', '1', zero, word),
      request('EVAL_RO', says, '1', zero, word),
      request('EXEC'),
      request('GET', `${one}`),
    ]
    attacker.send(calls.join(''))
    const error = `-${word}\r\n`
    await attacker.gets(
      `${error.repeat(2)}${ok}+QUEUED\r\n+QUEUED\r\n*2\r\n${error.repeat(2)}${bulk('true')}`,
    )
  }
  await nothingHasMoved(shards)
})

test('nor do messages whose channel and payload are redirects, or replies of the protocol', async () => {
  const shards = JSON.stringify(cluster.endpoint.wanted.shards)
  const payloads = [...words, ...words.map((word) => `x\r\n-${word}\r\n`)]
  for (const dialOne of [() => dial(cluster.port), dialNewer]) {
    await using subscriber = await dialOne()
    const mark = dialOne === dialNewer ? '>' : '*'
    for (const [n, payload] of payloads.entries()) {
      subscriber.send(request('SUBSCRIBE', payload))
      await subscriber.gets(`${mark}3\r\n${bulk('subscribe')}${bulk(payload)}:${n + 1}\r\n`)
    }
    for (const payload of payloads) {
      client.send(request('PUBLISH', payload, payload))
      await client.gets(':1\r\n')
      await subscriber.gets(`${mark}3\r\n${bulk('message')}${bulk(payload)}${bulk(payload)}`)
    }
  }
  await nothingHasMoved(shards)
})
