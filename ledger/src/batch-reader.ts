import { openEngineLink } from './engine-link.ts'
import type { Address } from './layout.ts'
import { type Reply, writeCommand } from './resp-lite.ts'

export type Values = readonly (string | null)[]

/** Reads many keys over one connection, several batches ahead of the answers. */
export interface BatchReader extends Disposable {
  /**
   * Sends an MGET; `onValues` gets the answers in the order of `keys`. Waits while too many batches are
   * ahead.
   */
  ask(keys: readonly string[], onValues: (values: Values) => void): Promise<void>
  /** Resolves when every batch has been answered. */
  drained(): Promise<void>
}

const BATCHES_AHEAD = 8
const ANSWER_WITHIN_MS = 10_000
const BUFFER_BYTES = 256 * 1024

/**
 * Connects and logs in; `replica` also asks a replica of a cluster to answer reads itself. Everything throws
 * one Error naming the engine when it ends, errs, or is silent for 10 s.
 */
export async function openBatchReader(options: {
  readonly address: Address
  readonly password: string
  readonly replica: boolean
}): Promise<BatchReader> {
  const { address, password, replica } = options
  const waiting: ((values: Values) => void)[] = []
  let failure: Error | null = null
  let progress = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()

  const moved = () => {
    progress.resolve()
    progress = Promise.withResolvers<void>()
  }
  const link = openEngineLink({
    address,
    password,
    bufferBytes: BUFFER_BYTES,
    onReady: () => (replica ? link.send(writeCommand('READONLY')) : ready.resolve()),
    onReply(reply) {
      if (reply.kind === 'status') return ready.resolve()
      const values = valuesOf(reply)
      if (values === null) return link.end(reply.kind === 'error' ? reply.text : 'unexpected')
      waiting.shift()?.(values)
      moved()
    },
    onEnd(why) {
      failure = new Error(`the ledger cannot be read back from ${address.host}:${address.port}: ${why}`)
      ready.reject(failure)
      moved()
    },
  })
  await ready.promise

  const until = async (most: number): Promise<void> => {
    while (waiting.length > most && !failure) {
      const silence = setTimeout(() => link.end('no-answer'), ANSWER_WITHIN_MS)
      await progress.promise
      clearTimeout(silence)
    }
    if (failure) throw failure
  }
  return {
    async ask(keys, onValues) {
      await until(BATCHES_AHEAD - 1)
      waiting.push(onValues)
      link.send(writeCommand('MGET', ...keys))
    },
    drained: () => until(0),
    [Symbol.dispose]: () => link.end('done'),
  }
}

/** Null when the answer is none of MGET. */
function valuesOf(reply: Reply): Values | null {
  if (reply.kind !== 'array' || reply.items === null) return null
  return reply.items.map((item) => (item.kind === 'bulk' ? item.text : null))
}
