import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@fairlead/engine'
import type { Client, Library, Login } from '../../proof/clients/clients.ts'
import { portsOf } from '../../proof/clients/ports-of.ts'
import type { Gap } from './summarize-clients.ts'

/** What a load did until it was stopped, and how many of its writes exist afterwards. */
export interface LoadReport {
  readonly acked: number
  readonly seconds: number
  /** Counted by the text of the error that the client got. */
  readonly errors: Readonly<Record<string, number>>
  /** Client connections that were not there at the beginning, or not at the end. */
  readonly reconnects: number
  /** Acknowledged writes that do not exist afterwards. */
  readonly lost: number
  /** Writes that were carried out more often than they were acknowledged or left without an answer. */
  readonly twice: number
  /** Times of 3 ms or more in which one of the clients got no answer. */
  readonly gaps: readonly Gap[]
}

export interface PacedLoad {
  answers(): number
  stop(): Promise<LoadReport>
}

export interface Pace {
  /** Operations a second of all clients together. */
  readonly perSecond: number
  /** Client objects, each with the one connection that it opens by default. */
  readonly clients: number
}

/** One client of the load: every other command raises its counter, the others write new keys. */
interface Worker {
  readonly client: Client
  readonly name: string
  issued: number
  answered: number
  outstanding: number
  lastAnswerMs: number
  readonly incr: Outcome
  readonly set: Outcome
  /** The numbers of its keys that were acknowledged. */
  readonly ackedKeys: number[]
}

interface Outcome {
  acked: number
  unknown: number
}

/** Below the limit of glide for one client (1,000): beyond it, glide refuses commands. */
const MOST_OUTSTANDING = 800
const SHORTEST_GAP_MS = 3
const SETTLE_MS = 500
const LAST_ANSWERS_MS = 10_000
const KEYS_AT_ONCE = 500
/** The same value as in the ledger. */
const FILLER = 'x'.repeat(90)

/**
 * Issues commands at this pace, whether the ones before are answered or not, up to 800 a client: each library sends them as it
 * does by itself. Commands that could not be issued in time are issued later. Resolves when all clients are connected and at work.
 */
export async function startPacedLoad(library: Library, login: Login, pace: Pace): Promise<PacedLoad> {
  const connect = async (_: unknown, n: number): Promise<Worker> => ({
    client: await library.connect(login),
    name: `w${n}`,
    ...{ issued: 0, answered: 0, outstanding: 0, lastAnswerMs: performance.now() },
    ...{ incr: { acked: 0, unknown: 0 }, set: { acked: 0, unknown: 0 }, ackedKeys: [] },
  })
  const workers = await Promise.all(Array.from({ length: pace.clients }, connect))
  const seen: SeenByClients = { errors: {}, gaps: [] }
  const beganMs = performance.now()
  let issued = 0
  const tick = () => {
    const due = Math.floor(((performance.now() - beganMs) / 1_000) * pace.perSecond)
    while (issued < due) {
      const worker = workers[issued % workers.length]
      if (worker === undefined || worker.outstanding >= MOST_OUTSTANDING) return
      issue(worker, seen)
      issued += 1
    }
  }
  const timer = setInterval(tick, 1)
  await pause(SETTLE_MS)
  const before = portsOf(login.port)
  seen.gaps.length = 0

  return {
    answers: () => workers.reduce((sum, { answered }) => sum + answered, 0),
    async stop() {
      clearInterval(timer)
      const seconds = (performance.now() - beganMs) / 1_000
      const acked = workers.reduce((sum, { incr, set }) => sum + incr.acked + set.acked, 0)
      const deadline = performance.now() + LAST_ANSWERS_MS
      while (workers.some(({ outstanding }) => outstanding > 0) && performance.now() < deadline)
        await pause(5)
      const after = portsOf(login.port)
      const changed = [...before, ...after].filter((port) => before.has(port) !== after.has(port))
      const found = await Promise.all(workers.map(readBack))
      await Promise.all(workers.map(({ client }) => client.close()))
      const sum = (pick: (one: Awaited<ReturnType<typeof readBack>>) => number) =>
        found.reduce((total, one) => total + pick(one), 0)
      return {
        ...{ acked, seconds, reconnects: changed.length, ...seen },
        lost: sum(({ lost }) => lost),
        twice: sum(({ twice }) => twice),
      }
    },
  }
}

interface SeenByClients {
  /** Counted by the text of the error that the client got. */
  readonly errors: Record<string, number>
  readonly gaps: Gap[]
}

function issue(worker: Worker, seen: SeenByClients): void {
  const number = worker.issued++
  const outcome = number % 2 === 0 ? worker.incr : worker.set
  worker.outstanding += 1
  commandOf(worker, number).then(
    () => {
      outcome.acked += 1
      if (outcome === worker.set) worker.ackedKeys.push(number)
      noteAnswer(worker, seen)
    },
    (cause: unknown) => {
      outcome.unknown += 1
      const message = messageOf(cause)
      seen.errors[message] = (seen.errors[message] ?? 0) + 1
      noteAnswer(worker, seen)
    },
  )
}

function noteAnswer(worker: Worker, { gaps }: SeenByClients): void {
  const now = performance.now()
  if (now - worker.lastAnswerMs >= SHORTEST_GAP_MS)
    gaps.push({ fromMs: unixMs(worker.lastAnswerMs), toMs: unixMs(now) })
  worker.lastAnswerMs = now
  worker.answered += 1
  worker.outstanding -= 1
}

function commandOf({ client, name }: Worker, number: number): Promise<unknown> {
  return number % 2 === 0
    ? client.call('INCR', `counter:${name}`)
    : client.call('SET', keyOf(name, number), `${number}:${FILLER}`)
}

function keyOf(name: string, number: number): string {
  return `key:${name}:${number}`
}

async function readBack({ client, name, incr, outstanding, ackedKeys }: Worker) {
  const counter = Number((await client.call('GET', `counter:${name}`)) ?? 0)
  let lost = Math.max(0, incr.acked - counter)
  for (let at = 0; at < ackedKeys.length; at += KEYS_AT_ONCE) {
    const numbers = ackedKeys.slice(at, at + KEYS_AT_ONCE)
    const values = (await client.call('MGET', ...numbers.map((n) => keyOf(name, n)))) as readonly unknown[]
    lost += numbers.filter((n, place) => String(values[place]) !== `${n}:${FILLER}`).length
  }
  // A command without an answer may have been carried out once.
  return { lost, twice: Math.max(0, counter - incr.acked - incr.unknown - outstanding) }
}

function unixMs(atMs: number): number {
  return performance.timeOrigin + atMs
}
