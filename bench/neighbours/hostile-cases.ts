import { setImmediate as turn } from 'node:timers/promises'
import { giantCases } from './giant-cases.ts'
import { type Door, enter, signIn } from './hostile-client.ts'
import {
  asks,
  asksOnce,
  empties,
  type HostileCase,
  line,
  many,
  strangerAsks,
  times,
  unfinished,
  unread,
  words,
} from './make-cases.ts'

async function byteByByte(door: Door): Promise<void> {
  using client = await signIn(door)
  const request = words('SET', 'k', 'x'.repeat(40))
  for (;;)
    for (let at = 0; at < request.length; at += 1) {
      await client.send(request.subarray(at, at + 1))
      await turn()
    }
}

async function comeAndGo(door: Door): Promise<void> {
  using _ = await enter(door)
}

let scripts = 0
async function differentScripts(door: Door): Promise<void> {
  using client = await signIn(door)
  const from = scripts
  scripts += 20_000
  await client.ask(times(20_000, (n) => words('EVAL', `return ${from + n}`, '0')))
}

const wordsOfALine = (word: string) => `PING ${`${word} `.repeat(30_000)}`
const subscribeTo = (command: string) => words(command, ...many(40_000, (n) => `a-name-of-some-length-${n}`))
const deep = words('EVAL', 'local t={} local c=t for i=1,7000 do c[1]={} c=c[1] end return t', '0')
const wide = words('EVAL', 'local t={} for i=1,7000 do t[i]={{},{i}} end return t', '0')
const all = { connections: 4, onBare: true }

/** Cases by name. `plain`, `sharded` and the like name the database to which the case connects; the neighbour has another database. */
export const hostileCases: Readonly<Record<string, HostileCase>> = {
  'long values, unfinished': {
    ...{ ...all, at: 'plain' },
    act: unfinished(Buffer.from(`*2\r\n$4\r\nECHO\r\n$10000001\r\n${'x'.repeat(10_000_000)}`)),
  },
  'many words, unfinished': {
    ...{ ...all, at: 'plain' },
    act: unfinished(empties(300_000, 'MGET').subarray(0, -6)),
  },
  'many words, unfinished, sharded': {
    ...all,
    at: 'sharded',
    act: unfinished(empties(300_000, 'MGET').subarray(0, -6)),
  },
  'byte by byte': { ...all, at: 'plain', connections: 30, act: byteByByte },
  'byte by byte, sharded': { ...all, at: 'sharded', connections: 30, act: byteByByte },
  'PING, unread': { ...all, at: 'plain', act: unread(times(10_000, () => words('PING'))) },
  'SELECT, unread': { ...all, at: 'plain', act: unread(times(10_000, () => words('SELECT', '0'))) },
  'GET, unread, sharded': { ...all, at: 'sharded', act: unread(times(10_000, (n) => words('GET', `k${n}`))) },
  '10 MB values, unread': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: unread(
      times(20, () => words('GET', 'long')),
      words('SET', 'long', 'x'.repeat(10_000_000)),
    ),
  },
  '40,000 channels': { ...all, at: 'plain', connections: 2, act: asksOnce(subscribeTo('SUBSCRIBE')) },
  '40,000 patterns': { ...all, at: 'plain', connections: 2, act: asksOnce(subscribeTo('PSUBSCRIBE')) },
  '40,000 channels, sharded': {
    ...all,
    at: 'sharded',
    connections: 2,
    act: asksOnce(subscribeTo('SUBSCRIBE')),
  },
  'WATCH of 100,000 keys': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: asksOnce(times(100, (part) => words('WATCH', ...many(1_000, (n) => `${part}:${n}`)))),
  },
  '20,000 scripts': { ...all, at: 'plain', connections: 2, act: differentScripts },
  'MULTI of 50,000': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: asks(
      Buffer.concat([
        words('MULTI'),
        times(50_000, (n) => words('SET', `k${n}`, 'x'.repeat(100))),
        words('EXEC'),
      ]),
    ),
  },
  'EXEC with SCAN and much else': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: async (door) => {
      using client = await signIn(door)
      await client.ask(
        words(
          'EVAL',
          "if redis.call('LLEN', 'l') < 1e5 then for i=1,1e5 do redis.call('RPUSH', 'l', i) end end",
          '1',
          'l',
        ),
      )
      for (;;)
        await client.ask(
          Buffer.concat([words('MULTI'), words('LRANGE', 'l', '0', '-1'), words('SCAN', '0'), words('EXEC')]),
        )
    },
  },
  'CLIENT SETNAME of 15 KB': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: asks(times(500, () => words('CLIENT', 'SETNAME', 'n'.repeat(15_000)))),
  },
  'ECHO of 15 KB': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: asks(times(500, () => words('ECHO', 'n'.repeat(15_000)))),
  },
  'CLIENT TRACKING, 500 prefixes': {
    ...{ ...all, at: 'plain', connections: 2 },
    act: asks(
      Buffer.concat([
        words('HELLO', '3'),
        words(
          'CLIENT',
          'TRACKING',
          'ON',
          'BCAST',
          ...many(1_000, (n) => (n % 2 === 0 ? 'PREFIX' : `${1_000 + n}:`)),
        ),
        words('CLIENT', 'TRACKING', 'OFF'),
      ]),
    ),
  },
  'REPLY OFF and SETINFO': {
    ...{ ...all, at: 'plain' },
    act: asks(
      Buffer.concat([
        words('CLIENT', 'REPLY', 'OFF'),
        times(20_000, (n) => words('CLIENT', 'SETINFO', 'LIB-NAME', `x${n}`)),
        words('CLIENT', 'REPLY', 'ON'),
      ]),
    ),
  },
  'replies nested 7,000 deep': { ...all, at: 'plain', act: asks(times(50, () => deep)) },
  'replies of 14,000 lists': { ...all, at: 'plain', act: asks(times(20, () => wide)) },
  'nested replies, sharded': {
    ...all,
    at: 'sharded',
    act: asks(Buffer.concat([times(10, () => deep), times(10, () => wide)])),
  },
  'KEYS of 300,000, sharded': { ...all, at: 'sharded', act: asks(words('KEYS', '*')) },
  'SCAN COUNT 100,000, sharded': { ...all, at: 'sharded', act: asks(words('SCAN', '0', 'COUNT', '100000')) },
  'MGET of 20,000, sharded': {
    ...all,
    at: 'sharded',
    act: asks(words('MGET', ...many(20_000, (n) => `{a}${n}`))),
  },
  'EXISTS of 20,000, sharded': {
    ...all,
    at: 'sharded',
    act: asks(words('EXISTS', ...many(20_000, (n) => `{a}${n}`))),
  },
  'XREAD of 160,000 words, sharded': { ...all, at: 'sharded', act: asks(empties(160_000, 'XREAD')) },
  'CLIENT of 160,000 words, sharded': { ...all, at: 'sharded', act: asks(empties(160_000, 'CLIENT')) },
  'SCRIPT EXISTS of 160,000, sharded': {
    ...all,
    at: 'sharded',
    act: asks(empties(160_000, 'SCRIPT', 'EXISTS')),
  },
  'CLIENT LIST, INFO, COMMAND, sharded': {
    ...{ ...all, at: 'sharded' },
    act: asks(
      times(20, () =>
        Buffer.concat([words('CLIENT', 'LIST'), words('INFO', 'everything'), words('COMMAND')]),
      ),
    ),
  },
  'connections that come and go': { ...all, at: 'plain', connections: 20, act: comeAndGo },
  'the same, to a sharded database': {
    ...all,
    at: 'sharded',
    connections: 20,
    onBare: false,
    act: comeAndGo,
  },
  'the same, TLS': { ...all, at: 'tls', connections: 20, onBare: false, act: comeAndGo },
  'wrong passwords': {
    ...all,
    at: 'plain',
    connections: 20,
    act: strangerAsks(
      times(100, (n) => words('AUTH', `wrong-${n}`)),
      100,
    ),
  },
  'AUTH of 15 KB': {
    ...all,
    at: 'plain',
    connections: 20,
    act: strangerAsks(
      times(50, () => words('AUTH', 'a'.repeat(15_000))),
      50,
    ),
  },
  'HELLO of 100,000 words': { ...all, at: 'plain', act: asks(empties(100_000, 'HELLO', '3')) },
  'lines of 30,000 words, no login': {
    ...all,
    at: 'plain',
    act: strangerAsks(
      times(20, () => line(wordsOfALine('a'))),
      20,
    ),
  },
  'lines that engines read differently': {
    ...all,
    at: 'plain',
    act: asks(times(20, () => line(wordsOfALine('\xff')))),
  },
  'lines of 30,000 words, sharded': {
    ...all,
    at: 'sharded',
    act: asks(times(20, () => line(wordsOfALine('a')))),
  },
  'lines of 30,000 words, Sentinel': {
    ...all,
    at: 'sentinel',
    onBare: false,
    act: strangerAsks(
      times(20, () => line(wordsOfALine('a'))),
      20,
    ),
  },
  ...giantCases,
}
