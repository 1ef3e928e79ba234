import {
  type Address,
  type EndpointSpec,
  type HoldResult,
  Refusal,
  type SwitchResult,
} from '@fairlead/api/of-proxies'
import { createMutex, messageOf } from '@fairlead/engine'
import { combineFound } from '../endpoint/create-peers.ts'
import type { CursorGenerations } from '../handover/cursor-generations.ts'
import { OWN_HOLD } from '../handover/hold.ts'
import { allQuiescent, noQuiescence, notBegun } from '../handover/long-requests.ts'
import type { Admission } from '../listen/admission.ts'
import type { Log } from '../listen/cut-log.ts'
import { inSpec, placesOf, portsOf } from '../listen/places.ts'
import { MOST_SCRIPT_BYTES } from '../remembered/known-scripts.ts'
import type { Peers } from '../remembered/peers.ts'
import { mustBeAlone, mustBeFree } from './claim-port.ts'
import {
  combineClients,
  combineHolds,
  combineMissing,
  combineScripts,
  combineSwitches,
  combineTapes,
  combineViews,
} from './combine.ts'
import type { EndpointHost, HostedEndpoint } from './endpoint-host.ts'
import type { OrderName, Orders } from './messages.ts'
import { type ProxyWorker, startWorker } from './start-worker.ts'

/** Share of the process's connections for endpoints; the rest is for Sentinel clients. */
const FOR_WORKERS = 0.9
/** Deadline for answers from a worker's memory. */
const ANSWER_WITHIN_MS = 3_000
/** Deadline in addition to the time of a drain. */
const HOLD_LATE_MS = 1_000
/** Deadline in addition to the time to drain, to move, and to wait for other workers. */
const SWITCH_WITHIN_MS = 15_000

interface WorkerHostOptions {
  readonly count: number
  /** Table of the user of each engine. */
  readonly usersOfPorts: string
  readonly admission: Admission
  readonly generations: CursorGenerations
  readonly log: Log
  /** Breadcrumbs of the main thread and of each worker. */
  readonly breadcrumbs: SharedArrayBuffer
  readonly onBroken: (why: string) => void
}

/**
 * Opens endpoints in `count` threads; the kernel divides the clients among them, and `admission` is divided
 * too. `onBroken`: a thread has ended with its clients, and the process must not continue.
 */
export async function createWorkerHost(options: WorkerHostOptions): Promise<EndpointHost> {
  const { count, usersOfPorts, admission, generations, log, breadcrumbs, onBroken } = options
  const endpoints = new Map<string, HostedEndpoint>()
  const onMove = async (id: string, upstream: Address, slot: number) => {
    const endpoint = endpoints.get(id)
    if (endpoint === undefined) throw new Refusal('not_found', `endpoint ${id} is still being opened`)
    await endpoint.switchTo(upstream, slot)
  }
  const start = {
    usersOfPorts,
    most: Math.max(1, Math.floor((admission.most * FOR_WORKERS) / count)),
    mostScriptBytes: Math.floor(MOST_SCRIPT_BYTES / count),
    count,
    breadcrumbs,
  }
  const running: ProxyWorker[] = []
  const onScriptsFlushed = (id: string, from: number) => {
    const others = running.filter((_, n) => n !== from)
    void forgetScripts(others, id, log)
  }
  const othersOf = (from: number) => (id: string) => {
    const others = running.filter((_, n) => n !== from)
    return peersIn(others, id, log)
  }
  await using stack = new AsyncDisposableStack()
  const workers = await allOf(
    Array.from({ length: count }, async (_, n) =>
      stack.use(
        await startWorker(
          { ...start, record: n + 1 },
          {
            log,
            onMove,
            onScriptsFlushed: (id) => onScriptsFlushed(id, n),
            others: othersOf(n),
            onEnd: onBroken,
          },
        ),
      ),
    ),
  )
  running.push(...workers)
  const owned = stack.move()
  return {
    async open(id, wanted) {
      await using stack = new AsyncDisposableStack()
      await mustBeFree(wanted)
      const toAll = fanOut(workers, id)
      stack.defer(async () => {
        endpoints.delete(id)
        await toAll('close', null).catch((cause: unknown) =>
          log('endpoint is not closed', { id, why: String(cause) }),
        )
      })
      await toAll('open', { wanted, generation: generations.take() })
      await mustBeAlone(wanted, count)
      const opened = stack.move()
      const endpoint = createFannedOut(workers, id, wanted, {
        generations,
        close: () => opened.disposeAsync(),
      })
      endpoints.set(id, endpoint)
      return endpoint
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Notifies only other workers: one whose client flushes and reloads keeps the new scripts. Never rejects. */
async function forgetScripts(others: readonly ProxyWorker[], id: string, log: Log): Promise<void> {
  try {
    await fanOut(others, id)('forget scripts', null)
  } catch (cause) {
    log('scripts are not forgotten', { id, why: String(cause) })
  }
}

/** The clients of an endpoint in these workers. */
function peersIn(workers: readonly ProxyWorker[], id: string, log: Log): Peers {
  const toThem = fanOut(workers, id)
  return {
    async find(query) {
      try {
        return combineFound(await toThem('find peers', query))
      } catch (cause) {
        return { clients: [], error: `ERR ${messageOf(cause)}` }
      }
    },
    end(ids, why) {
      if (ids.length === 0) return
      toThem('end peers', { ids, why }).catch((cause: unknown) =>
        log('clients are not ended', { id, why: String(cause) }),
      )
    },
  }
}

type ToAll = <Name extends OrderName>(
  name: Name,
  ask: Orders[Name]['ask'],
  withinMs?: number,
) => Promise<Orders[Name]['answer'][]>

/** Sends an order to all workers. Throws the first refusal after all have answered. */
function fanOut(workers: readonly ProxyWorker[], id: string): ToAll {
  return async (name, ask, withinMs = ANSWER_WITHIN_MS) =>
    allOf(workers.map((worker) => worker.order(name, { id, ask, withinMs })))
}

async function allOf<T>(answers: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(answers)
  return settled.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason
    return answer.value
  })
}

function createFannedOut(
  workers: readonly ProxyWorker[],
  id: string,
  first: EndpointSpec,
  { generations, close }: { readonly generations: CursorGenerations; readonly close: () => Promise<void> },
): HostedEndpoint {
  const toAll = fanOut(workers, id)
  let wanted = first
  const runExclusive = createMutex()

  const view = async () => {
    const { host, port, upstream, shards } = wanted
    return combineViews({ host, port, upstream, shards }, await toAll('report', null))
  }
  const goOver = async (upstream: Address, slot: number | undefined): Promise<SwitchResult> => {
    // Only of this group: another one may be held.
    const held = await toAll('is held', { slot })
    if (!held.some(Boolean) && isAlreadyAt(wanted, upstream, slot)) return nothingMoved
    if (!held.every(Boolean)) {
      const { drained, why } = await holdAll(toAll, { ...OWN_HOLD, ...(slot !== undefined && { slot }) })
      if (!drained) throw new Refusal('order_not_applicable', `the endpoint cannot be held: ${why}`)
    }
    // One generation for all threads: a client may use its cursor on a connection of another thread.
    const ask = { upstream, slot, generation: generations.take() }
    const switched = await switchAll(workers, id, ask)
    wanted = switched[0]?.wanted ?? wanted
    return combineSwitches(switched.map(({ result }) => result))
  }
  return {
    get wanted() {
      return wanted
    },
    listenAt: async (places) => {
      const fresh = portsOf(places)
        .filter((port) => !portsOf(placesOf(wanted)).includes(port))
        .map((port) => ({ host: places.host, port }))
      await Promise.all(fresh.map(mustBeFree))
      const missing = combineMissing(await toAll('listen at', places))
      try {
        await Promise.all(fresh.map((address) => mustBeAlone(address, workers.length)))
      } catch (cause) {
        await toAll('listen at', placesOf(wanted))
        throw cause
      }
      wanted = { ...wanted, ...inSpec(places) }
      return missing
    },
    async endLogins(valid) {
      await toAll('end logins', valid)
    },
    async know(addresses) {
      await toAll('know', addresses)
    },
    async prepare(upstream, slot) {
      return sum(await toAll('prepare', { upstream, slot }))
    },
    async blocked(slot) {
      return (await toAll('blocked', { slot })).flat()
    },
    hold: (times) => holdAll(toAll, times),
    switchTo: (upstream, slot) => runExclusive(() => goOver(upstream, slot)),
    async takeScripts(engine, all) {
      return combineScripts(await toAll('take scripts', { engine, all }))
    },
    async release(slot) {
      await toAll('release', { slot, hasFailed: false })
    },
    async readTape(slot) {
      return combineTapes(await toAll('read tape', { slot }))
    },
    report: view,
    async clients(query) {
      return combineClients(query.limit, await toAll('clients', query))
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Holds all threads. If one fails, all release their clients, because no switch will come. */
async function holdAll(toAll: ToAll, times: Orders['hold']['ask']): Promise<HoldResult> {
  const { deadlineMs, drainMs = deadlineMs, leavesSilent = false, slot } = times
  // All threads do this before any client is held: if one hangs, no client is affected.
  const calm = leavesSilent
    ? noQuiescence
    : allQuiescent(await toAll('calm', { withinMs: drainMs, slot }, drainMs + HOLD_LATE_MS))
  if (calm.long > 0) return notBegun(calm)
  try {
    // From here on, a wait in one thread makes the clients of all others wait.
    const parts = await toAll('hold', { ...times, calmMs: 0 }, drainMs + HOLD_LATE_MS)
    const held = { ...combineHolds(parts), cut: calm.cut + sum(parts.map(({ cut = 0 }) => cut)) }
    if (!held.drained) await toAll('release', { slot, hasFailed: true })
    return held
  } catch (cause) {
    await toAll('release', { slot, hasFailed: true }).catch(() => null)
    throw cause
  }
}

/** Switches all threads at the same time. Resolves when all connections have moved. */
async function switchAll(
  workers: readonly ProxyWorker[],
  id: string,
  ask: Orders['switch']['ask'],
): Promise<readonly Orders['switch']['answer'][]> {
  const switches = workers.map((worker) => worker.switch({ id, ask, withinMs: SWITCH_WITHIN_MS }))
  const answers = allOf(switches.map(({ answer }) => answer))
  // No client is served before every thread has moved the connections that would miss others' writes.
  await Promise.all(switches.map(({ there }) => there))
  for (const each of switches) each.proceed()
  const switched = await answers
  // Only publishers wait for this, and each worker waits a few seconds at most.
  void Promise.all(switches.map(({ listen }) => listen)).then(() => {
    for (const each of switches) each.publishOn()
  })
  return switched
}

const nothingMoved: SwitchResult = { moved: 0, later: 0, closed: 0, heldMs: 0 }

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}

/** True if the group of `slot`, or the only group, is already at `to`. */
function isAlreadyAt({ upstream, shards }: EndpointSpec, to: Address, slot: number | undefined): boolean {
  const now =
    shards === null
      ? upstream
      : shards.find(({ first, last }) => slot !== undefined && first <= slot && slot <= last)?.upstream
  return now?.host === to.host && now.port === to.port
}
