import { on } from 'node:events'
import { createInterface } from 'node:readline'
import {
  type Epoch,
  MOVE_PATH,
  MOVE_PROTOCOL,
  type MoveAnswer,
  type MoveRelease,
  type MoveTerms,
  type MovingShards,
} from '@fairlead/api'
import {
  currentTraceparent,
  EngineError,
  EngineUnreachable,
  type Moved,
  type NotMoved,
} from '@fairlead/engine'
import { AgentUnreachable, StaleEpoch } from './agent-link.ts'
import { upgrade } from './open-tunnel.ts'

/** A move for which the agent is prepared. Dispose to give it up, also in the middle. */
export interface PreparedMove extends Disposable {
  /** Orders it. Throws EngineError, EngineUnreachable, StaleEpoch, and AgentUnreachable, also if cut. */
  order(terms: MoveTerms, orders: OrdersOfMove): Promise<Moved | NotMoved>
  /** Called when the role has moved, and clients are served: lets the old primary follow. Throws the same. */
  follow(): Promise<void>
}

/** Called as a move proceeds. */
export interface OrdersOfMove {
  /** The successor gets the order to serve, or may have got it. */
  readonly give: () => void
  /** It has refused that order. */
  readonly refused: () => void
}

/** The agent ends a move after 4 s. */
const ANSWER_WITHIN_MS = 5_000

/** Prepares the agent for a move (engine-move.ts of the API). Throws like `order`. */
export async function prepareMove(
  agentSocket: string,
  shards: MovingShards,
  epoch: Epoch,
): Promise<PreparedMove> {
  const { socket } = await upgrade(agentSocket, { path: MOVE_PATH, protocol: MOVE_PROTOCOL }, epoch)
  using stack = new DisposableStack()
  stack.defer(() => socket.destroy())
  const gone = new AbortController()
  const end = (why: string) => gone.abort(new AgentUnreachable(`the agent does not answer: ${why}`))
  socket.once('close', () => end('it has closed the connection'))
  const reader = createInterface({ input: socket }).on('error', () => undefined) // the socket closes, too
  // Lines that came before the end are read first.
  const lines = on(reader, 'line', { signal: gone.signal })
  const answerTo = async (line?: MovingShards | MoveTerms | MoveRelease): Promise<MoveAnswer> => {
    if (line !== undefined) socket.write(`${JSON.stringify(line)}\n`)
    let isWaiting = true
    // After a stop of this process timers come first: what has arrived by then is read before.
    const late = setTimeout(
      () => setImmediate(() => isWaiting && end(`not within ${ANSWER_WITHIN_MS} ms`)),
      ANSWER_WITHIN_MS,
    )
    try {
      const { value } = (await lines.next()) as IteratorYieldResult<[string]>
      return JSON.parse(value[0]) as MoveAnswer
    } catch (cause) {
      throw gone.signal.aborted ? gone.signal.reason : new AgentUnreachable('the agent broke off', { cause })
    } finally {
      isWaiting = false
      clearTimeout(late)
    }
  }
  const { failed } = await answerTo(shards)
  if (failed !== undefined) throw errorOf(failed)
  const owned = stack.move()
  return {
    async order(terms, { give, refused }) {
      const traceparent = currentTraceparent()
      const first = await answerTo({ ...terms, ...(traceparent !== undefined && { traceparent }) })
      if (first.giving === true) give()
      const { moved, notMoved, failed: end } = first.giving === true ? await answerTo() : first
      if (end === undefined) return moved ?? (notMoved as NotMoved)
      if (end.by === 'refusal' && first.giving === true) refused()
      throw errorOf(end)
    },
    async follow() {
      const { failed: end } = await answerTo({ released: true })
      if (end !== undefined) throw errorOf(end)
    },
    [Symbol.dispose]: () => owned[Symbol.dispose](),
  }
}

function errorOf({ by, why }: NonNullable<MoveAnswer['failed']>): Error {
  if (by === 'refusal') return new EngineError(why)
  if (by === 'stale') return new StaleEpoch(why)
  return by === 'silence' ? new EngineUnreachable(why) : new AgentUnreachable(why)
}
