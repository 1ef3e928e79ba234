import { once } from 'node:events'
import { encodeCommand } from '@fairlead/engine'
import { type Door, enter, signIn } from './hostile-client.ts'
import { asks, asksOnce, empties, type HostileCase, many, times, words } from './make-cases.ts'

const keys = (count: number) => many(count, (n) => `{a}${n}`)
const pairs = (count: number) => many(2 * count, (n) => `{a}${n >> 1}`)
const channels = encodeCommand(['SUBSCRIBE', ...many(100_000, String)])
/** A list of a million numbers, in one reply. */
const million = words('EVAL', 'local t={} for i=1,1e6 do t[i]=i%7 end return t', '0')

const one = { connections: 2, onBare: true }
const plain = { ...one, at: 'plain' } as const
const sharded = { ...one, at: 'sharded' } as const

/** Many connections are opened at one moment, and ask something each. */
async function crowd(door: Door): Promise<void> {
  const MANY = 500
  const entering = await Promise.allSettled(Array.from({ length: MANY }, () => enter(door)))
  const clients = entering.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  await Promise.allSettled(clients.map((client) => client.lines(0)))
  for (const client of clients) client[Symbol.dispose]()
  await Promise.allSettled(clients.map(({ socket }) => once(socket, 'close')))
}

/** A client follows all keys, and 20,000 of them change in one command. */
async function followAll(door: Door): Promise<void> {
  using follower = await signIn(door)
  await follower.ask(words('HELLO', '3'))
  await follower.ask(words('CLIENT', 'TRACKING', 'ON', 'BCAST'))
  using writer = await signIn(door)
  for (let n = 0; n < 10; n += 1) await writer.ask(encodeCommand(['MSET', ...pairs(20_000)]))
}

/** Single requests of a very great number of words, and replies of very many values. */
export const giantCases: Readonly<Record<string, HostileCase>> = {
  'MGET of 1,000,000 words': { ...plain, act: asks(() => empties(1_000_000, 'MGET')) },
  'MGET of 1,000,000 words, sharded': { ...sharded, act: asks(() => empties(1_000_000, 'MGET', '{a}')) },
  'MSET of 200,000 keys': { ...plain, act: asks(() => encodeCommand(['MSET', ...pairs(200_000)])) },
  'MSET of 200,000 keys, sharded': {
    ...sharded,
    act: asks(() => encodeCommand(['MSET', ...pairs(200_000)])),
  },
  'DEL of 200,000 keys, sharded': { ...sharded, act: asks(() => encodeCommand(['DEL', ...keys(200_000)])) },
  'MGET of 200,000 keys, sharded': { ...sharded, act: asks(() => encodeCommand(['MGET', ...keys(200_000)])) },
  'SINTER of 200,000 keys, sharded': {
    ...sharded,
    act: asks(() => encodeCommand(['SINTER', ...keys(200_000)])),
  },
  'EVAL of 200,000 keys, sharded': {
    ...sharded,
    act: asks(() => encodeCommand(['EVAL', 'return 1', '200000', ...keys(200_000)])),
  },
  'XREAD of 200,000 words': {
    ...plain,
    act: asks(() => encodeCommand(['XREAD', 'STREAMS', ...keys(100_000), ...many(100_000, () => '0')])),
  },
  'XREAD of 200,000 words, sharded': {
    ...sharded,
    act: asks(() => encodeCommand(['XREAD', 'STREAMS', ...keys(100_000), ...many(100_000, () => '0')])),
  },
  'BLPOP of 100,000 keys': { ...plain, act: asks(() => encodeCommand(['BLPOP', ...keys(100_000), '0.01'])) },
  'SUBSCRIBE to 100,000 channels': { ...plain, act: asksOnce(channels) },
  'SUBSCRIBE to 100,000 channels, sharded': {
    ...sharded,
    act: asksOnce(channels),
  },
  'EXEC of 50,000 scripts': {
    ...plain,
    act: asks(() =>
      Buffer.concat([words('MULTI'), times(50_000, (n) => words('EVAL', `return ${n}`, '0')), words('EXEC')]),
    ),
  },
  'EXEC of 10,000 SELECTs': {
    ...plain,
    act: asks(() =>
      Buffer.concat([words('MULTI'), times(10_000, () => words('SELECT', '0')), words('EXEC')]),
    ),
  },
  'EXEC of 50,000 SETs, sharded': {
    ...sharded,
    act: asks(() =>
      Buffer.concat([words('MULTI'), times(50_000, (n) => words('SET', `{a}${n}`, 'x')), words('EXEC')]),
    ),
  },
  'HELLO with a password of 10 MB': {
    ...plain,
    act: asks(() => words('HELLO', '3', 'AUTH', 'default', 'x'.repeat(10_000_000))),
  },
  'AUTH of 10 MB, sharded': { ...sharded, act: asks(() => words('AUTH', 'x'.repeat(10_000_000))) },
  'HELLO of 200,000 words in MULTI': {
    ...plain,
    act: asks(() => Buffer.concat([words('MULTI'), empties(200_000, 'HELLO', '3'), words('DISCARD')])),
  },
  'a name of 8 MB in MULTI': {
    ...plain,
    act: asks(() =>
      Buffer.concat([
        words('MULTI'),
        words('x'.repeat(8_000_000)),
        words('CLIENT', 'x'.repeat(4_000_000)),
        words('DISCARD'),
      ]),
    ),
  },
  'CLIENT TRACKING of 100,000 words in MULTI': {
    ...plain,
    act: asks(() =>
      Buffer.concat([words('MULTI'), empties(100_000, 'CLIENT', 'TRACKING', 'ON', 'BCAST'), words('EXEC')]),
    ),
  },
  '100,000 PINGs': { ...plain, act: asks(() => Buffer.concat(Array(100_000).fill(words('PING')))) },
  '100,000 GETs, sharded': { ...sharded, act: asks(() => times(100_000, (n) => words('GET', `k${n}`))) },
  '100,000 inline PINGs': { ...plain, act: asks(() => Buffer.from('PING\r\n'.repeat(100_000))) },
  '100,000 inline GETs, sharded': { ...sharded, act: asks(() => Buffer.from('GET k\r\n'.repeat(100_000))) },
  'replies of 1,000,000 values': { ...plain, act: asks(million) },
  'replies of 1,000,000 values, sharded': { ...sharded, act: asks(million) },
  'CLIENT TRACKING of all keys': { ...plain, act: followAll },
  'KEYS of 40 MB, sharded': {
    ...sharded,
    connections: 1,
    act: async (door) => {
      using client = await signIn(door)
      for (let n = 0; n < 40; n += 1) await client.ask(words('SET', `{a}${n}${'x'.repeat(1_000_000)}`, 'v'))
      for (let n = 0; n < 10; n += 1) await client.ask(words('KEYS', '{a}*x'))
      for (let n = 0; n < 40; n += 1) await client.ask(words('DEL', `{a}${n}${'x'.repeat(1_000_000)}`))
    },
  },
  '500 connections at once': { ...plain, connections: 1, act: crowd },
  '500 connections at once, sharded': { ...sharded, connections: 1, onBare: false, act: crowd },
}
