import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { hostileInput } from '../../packages/proxy/test/hostile/hostile-input.ts'
import { request } from '../../packages/proxy/test/hostile/hostile-words.ts'
import { startNeighbour } from '../../packages/proxy/test/hostile/neighbour.ts'
import { createRandom, type Random } from '../../packages/proxy/test/hostile/random.ts'
import { sendInPieces } from '../../packages/proxy/test/hostile/send-in-pieces.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { untilAction } from '../../proof/way-back.ts'

const { from, to } = usualPair()
const AT_ONCE = 4
/** Connections that are left open, in whatever state they are. */
const MOST_OPEN = 60
const WRITERS = 6
/** Longer than the machine stalls: how long a neighbour waits is in bench/README.md. */
const STALL_MS = 30_000

/** Upgrades a database of so many groups among hostile clients, and expects that others notice nothing. */
export async function upgradeAmongHostile({ seed, groups }: { seed: number; groups: number }): Promise<void> {
  await using fairlead = await startFairlead()
  const [own, other] = await Promise.all([
    create(fairlead, { name: 'attacked', ...(groups > 1 && { shards_count: groups }) }),
    create(fairlead, { name: 'neighbour' }),
  ])
  await using neighbour = await startNeighbour(other.port, other.password)
  await using writers = await startWriters(own)
  await using hostile = startHostile(own, createRandom(seed))
  await until('the attack has begun', () => hostile.connections() > 40)
  await neighbour.look()
  const { action_uid } = await fairlead.api.upgradeDatabase({
    params: { uid: own.uid },
    body: { engine_version: to, rollback_window: 0 },
  })
  await untilAction(fairlead, action_uid ?? '', 'each group has handed over', ({ certificates, status }) => {
    return certificates.length === groups || status === 'failed'
  })
  const seen = await neighbour.look()
  const { inputs } = await hostile.stop()
  const action = await fairlead.untilEnded(action_uid)
  const written = await writers.stop()
  const what = `${inputs} hostile inputs on ${hostile.connections()} connections; the neighbour: ${JSON.stringify(seen)}; ${written.acked} writes`

  expect(action.status, `${what}; ${action.error ?? ''}`).toBe('completed')
  expect(written.trouble, what).toEqual([])
  expect(written.acked, what).toBeGreaterThan(100)
  expect(await readCounters(own), what).toEqual(written.counts)
  expect(seen.wrong, what).toBe('')
  expect(seen.most, what).toBeLessThan(STALL_MS)
}

interface Database {
  readonly uid: number
  readonly port: number
  readonly password: string
}

async function create(
  fairlead: Fairlead,
  fields: { name: string; shards_count?: number },
): Promise<Database> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { memory_size: 0, replication: true, engine_version: from, ...fields },
  })
  await fairlead.untilEnded(action_uid)
  const { port, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid },
  })
  return { uid, port, password }
}

/** Starts clients that raise a counter each on one connection: the answers have to be 1, 2, 3 … */
async function startWriters({ port, password }: Database) {
  let isOver = false
  const trouble: string[] = []
  const counts = Array.from({ length: WRITERS }, () => 0)
  const write = async (n: number) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    let text = ''
    let wake = (): void => undefined
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      wake()
    })
    socket.on('close', () => {
      if (!isOver) trouble.push(`connection ${n} was closed`)
      wake()
    })
    socket.on('error', () => undefined)
    const ask = async (line: string, answer: string) => {
      text = ''
      socket.write(line)
      while (text.length < answer.length && !socket.destroyed) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (text !== answer && !socket.destroyed)
        trouble.push(`${line}: ${JSON.stringify(text)}, not ${JSON.stringify(answer)}`)
      return text === answer
    }
    if (!(await ask(`AUTH ${password}\r\n`, '+OK\r\n'))) return
    while (!isOver) {
      const count = (counts[n] ?? 0) + 1
      if (!(await ask(`INCR writer:${n}\r\n`, `:${count}\r\n`))) break
      counts[n] = count
      await pause(5)
    }
    socket.destroy()
  }
  const all = counts.map((_, n) => write(n))
  const stop = async () => {
    isOver = true
    await Promise.all(all)
    return { counts, trouble, acked: counts.reduce((sum, count) => sum + count, 0) }
  }
  await until('each writes', () => counts.every((count) => count > 0) || trouble.length > 0)
  return { stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}

async function readCounters({ port, password }: Database): Promise<number[]> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.write(
    `AUTH ${password}\r\n${Array.from({ length: WRITERS }, (_, n) => `GET writer:${n}\r\n`).join('')}`,
  )
  const values = () => [...text.matchAll(/\$\d+\r\n(\d+)\r\n/g)].map(([, value]) => Number(value))
  await until('each counter is read', () => values().length === WRITERS)
  socket.destroy()
  return values()
}

/**
 * Starts connections that send hostile input in pieces. Most leave soon; the others until newer ones need
 * their place.
 */
function startHostile({ port, password }: Database, random: Random) {
  let isOver = false
  let inputs = 0
  let connections = 0
  const open: Socket[] = []
  const alive = new Set<Socket>()
  const attack = async () => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    connections += 1
    alive.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => alive.delete(socket))
    socket.resume()
    if (random.below(4) > 0) socket.write(request('AUTH', password))
    const count = 1 + random.below(4)
    for (let n = 0; n < count && !isOver; n += 1, inputs += 1) {
      const { bytes, readsReplies } = random.below(3) === 0 ? lastingInput(random) : hostileInput(random)
      if (!readsReplies) socket.pause()
      await sendInPieces(socket, bytes, random, () => random.below(8))
    }
    if (random.below(3) > 0) leave(socket, random)
    else open.push(socket)
    if (open.length > MOST_OPEN) {
      const [oldest] = open.splice(random.below(open.length), 1)
      if (oldest !== undefined) leave(oldest, random)
    }
  }
  const lane = async () => {
    while (!isOver) {
      await attack()
      await pause(random.below(40))
    }
  }
  const lanes = Array.from({ length: AT_ONCE }, lane)
  const stop = async () => {
    isOver = true
    await Promise.all(lanes)
    for (const socket of alive) socket.destroy()
    return { inputs }
  }
  return { connections: () => connections, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}

/** Answers an input that is still under way when the role moves. */
function lastingInput(random: Random): { readonly bytes: Buffer; readonly readsReplies: boolean } {
  const text = random.pick([
    () => request('MULTI') + request('SET', '{b}k', 'v').repeat(random.below(50)),
    () => request('WATCH', '{b}k') + request('MULTI') + request('SUBSCRIBE', 'c'),
    () => request('SUBSCRIBE', ...Array.from({ length: 1 + random.below(500) }, (_, n) => `c${n}`)),
    () => request('PSUBSCRIBE', '*') + request('PUBLISH', 'c', 'm'.repeat(5_000)).repeat(5),
    () => request('BLPOP', '{b}none', '0') + request('PING').repeat(random.below(500)),
    () => request('XREAD', 'BLOCK', '0', 'STREAMS', '{b}stream', '$'),
    () => request('WAIT', '5', '0'),
    () => request('HELLO', '3') + request('CLIENT', 'TRACKING', 'ON', 'BCAST'),
    () => request('CLIENT', 'REPLY', 'OFF') + request('INCR', '{b}n').repeat(500),
    () => request('PING').repeat(5_000 + random.below(20_000)),
    () => request('SETRANGE', '{c}big', 20_000, 'x') + request('GET', '{c}big').repeat(200),
    () => `*3\r\n$3\r\nSET\r\n$4\r\n{b}v\r\n$200000\r\n${'v'.repeat(random.below(199_000))}`,
    () => `*1000\r\n$3\r\nDEL\r\n${'$4\r\n{b}k\r\n'.repeat(random.below(900))}`,
    () => request('EVAL', 'local n = 0 while n < 100000 do n = n + 1 end return n', '1', '{b}k'),
    () => request('EVAL', "return redis.call('BLPOP', KEYS[1], 0)", '1', '{b}k'),
    () => request('SCAN', '0').repeat(100) + request('KEYS', '*').repeat(20),
  ])()
  return { bytes: Buffer.from(text, 'latin1'), readsReplies: random.below(3) > 0 }
}

function leave(socket: Socket, random: Random): void {
  const how = random.below(3)
  if (how === 0) socket.end()
  else if (how === 1 || socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}
