import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Address } from '@fairlead/api/of-proxies'
import { messageOf } from '@fairlead/engine'
import type { Log } from '../listen/cut-log.ts'
import type { Peers } from '../remembered/peers.ts'
import { createQuestions, type WorkerOrder } from './ask-worker.ts'
import type { FromWorker, OrderName, Orders, ToWorker, WorkerStart } from './messages.ts'

/** Deadline of a start, on a busy machine. */
const READY_WITHIN_MS = 30_000

/** A thread with its share of the connections. Dispose to end the thread and its connections. */
export interface ProxyWorker extends AsyncDisposable {
  /** Sends an order. Throws its refusal, or `unavailable` without an answer in time. */
  order<Name extends OrderName>(name: Name, order: WorkerOrder<Name>): Promise<Orders[Name]['answer']>
  /** Sends the order of a switch, in two parts: its connections move, and wait until they may continue. */
  switch(order: WorkerOrder<'switch'>): {
    /** Resolves when they have moved or will not, as the answer shows. Never rejects. */
    readonly there: Promise<void>
    proceed(): void
    /** Resolves after the answer, when its subscribers have moved or will not. Never rejects. */
    readonly listen: Promise<void>
    publishOn(): void
    readonly answer: Promise<Orders['switch']['answer']>
  }
}

export interface WorkerEvents {
  readonly log: Log
  /** Called when an engine reports that a group has moved. Resolves when the group is switched. */
  readonly onMove: (id: string, upstream: Address, slot: number) => Promise<unknown>
  /** Called when a client of this worker has flushed an endpoint's scripts. */
  readonly onScriptsFlushed: (id: string) => void
  /** Finds, or ends, clients of an endpoint in the other workers. `find` never rejects. */
  readonly others: (id: string) => Peers
  /** Called with the reason when the thread has ended unexpectedly. */
  readonly onEnd: (why: string) => void
}

/** Resolves when the worker takes orders. Throws if it does not start. */
export async function startWorker(start: WorkerStart, events: WorkerEvents): Promise<ProxyWorker> {
  const thread = new Worker(fileURLToPath(import.meta.resolve('@fairlead/proxy/worker')), {
    workerData: start,
  })
  const send = (message: ToWorker): void => thread.postMessage(message)
  const questions = createQuestions(send)
  const life = watchThread(thread, events)
  thread.on('message', (message: FromWorker) => {
    if (message.kind === 'ready') life.begin()
    else if (message.kind === 'log') events.log(message.what, message.details)
    else if (message.kind === 'scripts flushed') events.onScriptsFlushed(message.id)
    else if (message.kind === 'move') void move(message, events, send)
    else if (message.kind === 'find peers') void find(message, events, send)
    else if (message.kind === 'end peers') events.others(message.id).end(message.ids, message.why)
    else questions.hear(message)
  })
  await life.ready()
  let last = 0
  return {
    order(name, order) {
      last += 1
      return questions.ask(name, last, order, () => undefined)
    },
    switch(order) {
      last += 1
      const number = last
      const { promise: there, resolve } = Promise.withResolvers<void>()
      const answer = questions.ask('switch', number, order, resolve)
      return {
        there,
        proceed: () => send({ kind: 'all there', number }),
        listen: questions.untilListening(number, answer),
        publishOn: () => send({ kind: 'all listen', number }),
        answer,
      }
    },
    [Symbol.asyncDispose]: life.end,
  }
}

/** Watches a thread: it must be ready in time; if it ends without an order, `onEnd` gets the reason. */
function watchThread(thread: Worker, { onEnd }: Pick<WorkerEvents, 'onEnd'>) {
  let isWanted = true
  let isReady = false
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
  const end = (why: string): void => {
    if (!isWanted) return
    isWanted = false
    if (isReady) onEnd(why)
    else reject(new Error(`a worker of the proxy did not start: ${why}`))
  }
  thread.on('error', (cause) => end(messageOf(cause)))
  thread.on('exit', (code) => end(`it exited with ${code}`))
  return {
    begin() {
      isReady = true
      resolve()
    },
    /** Throws if the thread did not start; it has ended then. */
    async ready(): Promise<void> {
      const late = setTimeout(() => end('it was not ready in time'), READY_WITHIN_MS)
      try {
        await begun
      } catch (cause) {
        await thread.terminate()
        throw cause
      } finally {
        clearTimeout(late)
      }
    },
    async end(): Promise<void> {
      isWanted = false
      await thread.terminate()
    },
  }
}

async function find(
  { number, id, query }: Extract<FromWorker, { readonly kind: 'find peers' }>,
  { others }: Pick<WorkerEvents, 'others'>,
  send: (message: ToWorker) => void,
): Promise<void> {
  send({ kind: 'found', number, found: await others(id).find(query) })
}

type Moving = Extract<FromWorker, { readonly kind: 'move' }>

async function move(
  { number, id, upstream, slot }: Moving,
  { onMove }: Pick<WorkerEvents, 'onMove'>,
  send: (message: ToWorker) => void,
): Promise<void> {
  try {
    await onMove(id, upstream, slot ?? 0)
    send({ kind: 'moved', number, why: null })
  } catch (cause) {
    send({ kind: 'moved', number, why: messageOf(cause) })
  }
}
