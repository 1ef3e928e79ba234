import { Refusal } from '@fairlead/api/of-proxies'
import type { FromWorker, Order, OrderName, Orders, Refused, ToWorker } from './messages.ts'

/** Deadline for subscribers: thousands take a second or two; a hung worker is not waited for. */
const LISTEN_WITHIN_MS = 10_000

/** An order for endpoint `id`, and the deadline of its answer in ms. */
export interface WorkerOrder<Name extends OrderName> {
  readonly id: string
  readonly ask: Orders[Name]['ask']
  readonly withinMs: number
}

/** Unanswered orders of one worker, by number. */
export interface Questions {
  /**
   * Sends an order. `onThere` is called when its connections have moved or will not. Throws its refusal, or
   * `unavailable` without an answer in time.
   */
  ask<Name extends OrderName>(
    name: Name,
    number: number,
    order: WorkerOrder<Name>,
    onThere: () => void,
  ): Promise<Orders[Name]['answer']>
  /** Resolves when the subscribers of a switch have moved or will not. Never rejects. */
  untilListening(number: number, answer: Promise<unknown>): Promise<void>
  /** Handles the worker's message for an order. */
  hear(message: Extract<FromWorker, { readonly number: number; readonly kind: ToAnOrder }>): void
}

type ToAnOrder = 'answer' | 'refusal' | 'there' | 'listen'

interface Awaited {
  readonly resolve: (answer: Orders[OrderName]['answer']) => void
  readonly reject: (cause: Error) => void
  readonly onThere: () => void
}

/** Creates the record of orders to one worker. `send` posts a message to that worker. */
export function createQuestions(send: (message: ToWorker) => void): Questions {
  const awaited = new Map<number, Awaited>()
  const listening = new Map<number, () => void>()
  return {
    async ask(name, number, { id, ask, withinMs }, onThere) {
      const { promise, resolve, reject } = Promise.withResolvers<Orders[OrderName]['answer']>()
      const silent = () =>
        reject(new Refusal('unavailable', `a worker of the proxy has not answered (${name})`))
      const timer = setTimeout(silent, withinMs)
      awaited.set(number, { resolve, reject, onThere })
      try {
        // The signature above ties name and question together, which the union type cannot express.
        send({ kind: 'order', number, id, name, ask } as Order)
        return (await promise) as Orders[typeof name]['answer']
      } finally {
        clearTimeout(timer)
        awaited.delete(number)
        onThere()
      }
    },
    async untilListening(number, answer) {
      const { promise, resolve } = Promise.withResolvers<void>()
      listening.set(number, resolve)
      // A worker that has not switched has no clients that could miss anything.
      answer.catch(() => resolve())
      const timer = setTimeout(resolve, LISTEN_WITHIN_MS)
      await promise
      clearTimeout(timer)
      listening.delete(number)
    },
    hear(message) {
      const { number, kind } = message
      if (kind === 'answer') awaited.get(number)?.resolve(message.answer)
      else if (kind === 'refusal') awaited.get(number)?.reject(errorOf(message.refusal))
      else if (kind === 'there') awaited.get(number)?.onThere()
      else listening.get(number)?.()
    },
  }
}

function errorOf({ code, message }: Refused): Error {
  return code === null ? new Error(message) : new Refusal(code, message)
}
