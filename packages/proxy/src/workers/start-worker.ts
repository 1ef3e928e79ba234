import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Address, Refusal } from '@fairlead/api'
import type { Log } from '../listen/cut-log.ts'
import type { FromWorker, Order, OrderName, Orders, Refused, ToWorker, WorkerStart } from './messages.ts'

/** On a machine that has much else to do. */
const READY_WITHIN_MS = 30_000

/** Thousands of subscribers take a second or two; a worker that hangs is not waited for. */
const LISTEN_WITHIN_MS = 10_000

/** A thread that serves its share of the connections. Disposing of it ends it, with them. */
export interface ProxyWorker extends AsyncDisposable {
  /** Has an order carried out. Throws its refusal, or `unavailable` when there is no answer in time. */
  order<Name extends OrderName>(
    name: Name,
    order: { readonly id: string; readonly ask: Orders[Name]['ask']; readonly withinMs: number },
  ): Promise<Orders[Name]['answer']>
  /** The order of a switch, in two parts: its connections arrive, and wait until they may go on. */
  switch(order: { readonly id: string; readonly ask: Orders['switch']['ask']; readonly withinMs: number }): {
    /** They are there, or will not come: the answer says. Never rejects. */
    readonly there: Promise<void>
    goOn(): void
    /** Its subscribers are there, or will not come. Comes after the answer; never rejects. */
    readonly listen: Promise<void>
    publishOn(): void
    readonly answer: Promise<Orders['switch']['answer']>
  }
}

export interface WorkerEvents {
  readonly log: Log
  /** An engine has told this worker that a group is elsewhere. Resolves when it has been switched. */
  readonly onMove: (id: string, upstream: Address, slot: number) => Promise<unknown>
  /** A client of this worker has flushed the scripts of an endpoint. */
  readonly onScriptsFlushed: (id: string) => void
  /** It has ended, and nobody wanted it to: why. */
  readonly onEnd: (why: string) => void
}

/** Resolves when it takes orders. Throws when it does not. */
export async function startWorker(start: WorkerStart, events: WorkerEvents): Promise<ProxyWorker> {
  const thread = new Worker(fileURLToPath(import.meta.resolve('@fairlead/proxy/worker')), {
    workerData: start,
  })
  const awaited = new Map<number, Awaited>()
  const listening = new Map<number, () => void>()
  let last = 0
  let isWanted = true
  let isReady = false
  const { promise: ready, resolve: tellReady, reject: tellFailed } = Promise.withResolvers<void>()
  const send = (message: ToWorker): void => thread.postMessage(message)
  const end = (why: string): void => {
    if (!isWanted) return
    isWanted = false
    if (isReady) events.onEnd(why)
    else tellFailed(new Error(`a worker of the proxy did not start: ${why}`))
  }
  thread.on('error', (cause) => end(cause instanceof Error ? cause.message : String(cause)))
  thread.on('exit', (code) => end(`it exited with ${code}`))
  thread.on('message', (message: FromWorker) => {
    switch (message.kind) {
      case 'ready':
        isReady = true
        tellReady()
        return
      case 'answer':
        awaited.get(message.number)?.resolve(message.answer)
        return
      case 'refusal':
        awaited.get(message.number)?.reject(errorOf(message.refusal))
        return
      case 'there':
        awaited.get(message.number)?.onThere()
        return
      case 'listen':
        listening.get(message.number)?.()
        return
      case 'log':
        events.log(message.what, message.details)
        return
      case 'scripts flushed':
        events.onScriptsFlushed(message.id)
        return
      case 'move':
        void move(message)
    }
  })
  const move = async ({ number, id, upstream, slot }: Moving): Promise<void> => {
    try {
      await events.onMove(id, upstream, slot ?? 0)
      send({ kind: 'moved', number, why: null })
    } catch (cause) {
      send({ kind: 'moved', number, why: cause instanceof Error ? cause.message : String(cause) })
    }
  }
  const request = async <Name extends OrderName>(
    name: Name,
    number: number,
    {
      id,
      ask,
      withinMs,
    }: { readonly id: string; readonly ask: Orders[Name]['ask']; readonly withinMs: number },
    onThere: () => void,
  ): Promise<Orders[Name]['answer']> => {
    const { promise, resolve, reject } = Promise.withResolvers<Orders[OrderName]['answer']>()
    const silent = () =>
      reject(new Refusal('unavailable', `a worker of the proxy has not answered (${name})`))
    const timer = setTimeout(silent, withinMs)
    awaited.set(number, { resolve, reject, onThere })
    try {
      // Name and question belong together by the signature above, which the union cannot show.
      send({ kind: 'order', number, id, name, ask } as Order)
      return (await promise) as Orders[Name]['answer']
    } finally {
      clearTimeout(timer)
      awaited.delete(number)
      onThere()
    }
  }
  const untilListening = async (number: number, answer: Promise<unknown>): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    listening.set(number, resolve)
    // One that has not switched has nobody who could miss anything.
    answer.catch(() => resolve())
    const timer = setTimeout(resolve, LISTEN_WITHIN_MS)
    await promise
    clearTimeout(timer)
    listening.delete(number)
  }
  const late = setTimeout(() => end('it was not ready in time'), READY_WITHIN_MS)
  try {
    await ready
  } catch (cause) {
    await thread.terminate()
    throw cause
  } finally {
    clearTimeout(late)
  }
  return {
    order(name, order) {
      last += 1
      return request(name, last, order, () => undefined)
    },
    switch(order) {
      last += 1
      const number = last
      const { promise: there, resolve } = Promise.withResolvers<void>()
      const answer = request('switch', number, order, resolve)
      return {
        there,
        goOn: () => send({ kind: 'all there', number }),
        listen: untilListening(number, answer),
        publishOn: () => send({ kind: 'all listen', number }),
        answer,
      }
    },
    async [Symbol.asyncDispose]() {
      isWanted = false
      await thread.terminate()
    },
  }
}

interface Awaited {
  readonly resolve: (answer: Orders[OrderName]['answer']) => void
  readonly reject: (cause: Error) => void
  readonly onThere: () => void
}
type Moving = Extract<FromWorker, { readonly kind: 'move' }>

function errorOf({ code, message }: Refused): Error {
  return code === null ? new Error(message) : new Refusal(code, message)
}
