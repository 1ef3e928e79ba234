import { parentPort, workerData } from 'node:worker_threads'
import { type Address, Refusal } from '@fairlead/api/of-proxies'
import { createMutex, knowUsersOfPorts, messageOf } from '@fairlead/engine'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { answerTurns } from '../heartbeat/answer-turns.ts'
import { crumbOf, during } from '../heartbeat/breadcrumb.ts'
import { createAdmission } from '../listen/admission.ts'
import { shareClientIds } from '../listen/client-ids.ts'
import type { Log } from '../listen/cut-log.ts'
import type { Found, PeerQuery, Peers } from '../remembered/peers.ts'
import { openLogged } from './endpoint-host.ts'
import type { FromWorker, Order, OrderName, Orders, ToWorker, WorkerStart } from './messages.ts'

/**
 * A worker thread of the proxy, with its share of every endpoint's connections. It executes the main thread's
 * orders, and keeps the deadlines of holds even if the main thread does not answer.
 */

/** Longest wait of moved connections for those of other workers: longer than a move can take. */
const ALL_THERE_MS = 4_000
/** A switch of all workers takes no longer, unless one hangs. */
const MOVED_WITHIN_MS = 20_000

const port = parentPort
if (port === null) throw new Error('this is a worker of the proxy: main.ts starts it')
const { usersOfPorts, most, mostScriptBytes, count, breadcrumbs, record } = workerData as WorkerStart
knowUsersOfPorts(usersOfPorts)
answerTurns(breadcrumbs, record)
shareClientIds(record, count)
const admission = createAdmission(most)
const endpoints = new Map<string, Endpoint>()
/** Map from switch number to the function that lets connections, or publishers, continue. */
const proceed = new Map<number, () => void>()
const publishOn = new Map<number, () => void>()
const asked = new Map<number, (why: string | null) => void>()
const sought = new Map<number, (found: Found) => void>()
let lastAsked = 0
// An endpoint removed during its opening is closed afterwards.
const runExclusive = createMutex()

const tell = (message: FromWorker): void => port.postMessage(message)
const log: Log = (what, details) => tell({ kind: 'log', what, details })

port.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'order':
      void during('carries out the order', crumbOf(`${message.name} ${message.id}`), () => obey(message))
      return
    case 'all there':
      proceed.get(message.number)?.()
      return
    case 'all listen':
      publishOn.get(message.number)?.()
      return
    case 'moved':
      asked.get(message.number)?.(message.why)
      return
    case 'found':
      sought.get(message.number)?.(message.found)
  }
})

async function obey(order: Order): Promise<void> {
  const { number } = order
  try {
    tell({ kind: 'answer', number, answer: await carryOut(order) })
  } catch (cause) {
    const message = messageOf(cause)
    const code = cause instanceof Refusal ? cause.code : null
    tell({ kind: 'refusal', number, refusal: { code, message } })
  }
}

async function carryOut(order: Order): Promise<Orders[OrderName]['answer']> {
  const { id, number } = order
  switch (order.name) {
    case 'open':
      await runExclusive(() => open(id, order.ask))
      return null
    case 'close':
      await runExclusive(() => close(id))
      return null
    case 'listen at':
      return runExclusive(() => find(id).listenAt(order.ask))
    case 'end logins':
      find(id).endLogins(order.ask)
      return null
    case 'know':
      find(id).know(order.ask)
      return null
    case 'prepare':
      return find(id).prepare(order.ask.upstream, order.ask.slot)
    case 'blocked':
      return find(id).blocked(order.ask.slot)
    case 'calm':
      return find(id).calm(order.ask.withinMs, order.ask.slot)
    case 'hold':
      return find(id).hold(order.ask)
    case 'switch': {
      const endpoint = find(id)
      const { upstream, slot, generation } = order.ask
      const others = {
        allThere: () => meet(number, 'there', proceed),
        allListen: () => meet(number, 'listen', publishOn),
      }
      const result = await endpoint.switchTo(upstream, slot, others, generation)
      return { result, wanted: endpoint.wanted }
    }
    case 'take scripts':
      return find(id).takeScripts(order.ask.engine, order.ask.all)
    case 'forget scripts':
      find(id).forgetScripts()
      return null
    case 'release':
      find(id).release(order.ask.slot, order.ask.hasFailed)
      return null
    case 'is held':
      return find(id).isHeld(order.ask.slot)
    case 'read tape':
      return find(id).readTape(order.ask.slot)
    case 'report':
      return find(id).report()
    case 'clients':
      return find(id).clients(order.ask)
    case 'find peers':
      return find(id).peers.find(order.ask)
    case 'end peers':
      find(id).peers.end(order.ask.ids, order.ask.why)
      return null
  }
}

async function open(id: string, { wanted, generation }: Orders['open']['ask']): Promise<void> {
  const moveGroup = (upstream: Address, slot: number) => askToMove(id, upstream, slot)
  // The main thread sends the same generation to all workers with each order.
  const generations = { take: () => generation }
  const scripts = { mostBytes: mostScriptBytes, onForget: () => tell({ kind: 'scripts flushed', id }) }
  const others: Peers = {
    find: (query) => findElsewhere(id, query),
    end: (ids, why) => tell({ kind: 'end peers', id, ids, why }),
  }
  const options = { reusePort: true, admission, generations, scripts, others, moveGroup }
  endpoints.set(id, await openLogged(id, wanted, options, log))
}

async function close(id: string): Promise<void> {
  const endpoint = endpoints.get(id)
  endpoints.delete(id)
  await endpoint?.[Symbol.asyncDispose]()
}

function find(id: string): Endpoint {
  const endpoint = endpoints.get(id)
  if (endpoint === undefined) throw new Refusal('not_found', `there is no endpoint ${id}`)
  return endpoint
}

/** Waits for the other workers. Never throws: a moved connection continues, whatever they do. */
async function meet(
  number: number,
  kind: 'there' | 'listen',
  awaited: Map<number, () => void>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ALL_THERE_MS)
  awaited.set(number, resolve)
  tell({ kind, number })
  await promise
  clearTimeout(timer)
  awaited.delete(number)
}

/** Asks the main thread, which asks the other workers; it answers before their deadline. */
async function findElsewhere(id: string, query: PeerQuery): Promise<Found> {
  lastAsked += 1
  const number = lastAsked
  const { promise, resolve } = Promise.withResolvers<Found>()
  sought.set(number, resolve)
  tell({ kind: 'find peers', number, id, query })
  const found = await promise
  sought.delete(number)
  return found
}

async function askToMove(id: string, upstream: Address, slot: number): Promise<void> {
  lastAsked += 1
  const number = lastAsked
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const timer = setTimeout(() => resolve('the main thread did not answer'), MOVED_WITHIN_MS)
  asked.set(number, resolve)
  tell({ kind: 'move', number, id, upstream, slot })
  const why = await promise
  clearTimeout(timer)
  asked.delete(number)
  if (why !== null) throw new Error(why)
}

tell({ kind: 'ready' })
