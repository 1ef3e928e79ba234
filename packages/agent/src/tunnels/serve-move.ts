import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { type Epoch, type EpochFence, type MoveAnswer, MoveTerms, MovingShards, Refusal } from '@fairlead/api'
import {
  createEffect,
  EngineError,
  EngineUnreachable,
  inSpan,
  look,
  type MoveOrder,
  messageOf,
  moveRole,
  type SpanBasket,
} from '@fairlead/engine'
import { compileSchema, describeFault } from '../process/check-schema.ts'
import type { CutConnection, Tunnels } from './tunnels.ts'

/** Called around each effect, which waits for it: tests kill and stall processes there. */
export type OnEffect = (phase: 'before' | 'after', name: string) => Promise<void> | void

/** Parts for carrying out a move. */
export interface MoveParts {
  readonly tunnels: Pick<Tunnels, 'connect'>
  /** Notices a stall of this process (watch-life.ts). */
  readonly look: () => void
  readonly spans: Pick<SpanBasket, 'join'>
  readonly fence: Pick<EpochFence, 'admit'>
  readonly onEffect?: OnEffect | undefined
}

/** Then the move ends, wherever it is. Each command has 2 s. */
const WITHIN_MS = 4_000
/** A handover that is held up begins its preparation again. */
const PREPARED_MS = 30_000
const MOST_BYTES = 16 * 1024
/** Longest time in which the old primary has no link because clients are moved. */
const RELEASED_WITHIN_MS = 1_000
/** The first look runs cold code: it takes some ms, which writes would wait for. */
const REHEARSALS = 3

const isShards = compileSchema<MovingShards>(MovingShards, 'body')
const isTerms = compileSchema<MoveTerms>(MoveTerms, 'body')

interface Members extends Disposable {
  readonly primary: CutConnection
  readonly successor: CutConnection
  readonly others: readonly CutConnection[]
}

/** Serves one move to a server (engine-move.ts of the API). Owns the socket. Never rejects. */
export async function serveMove(socket: Socket, epoch: Epoch, parts: MoveParts): Promise<void> {
  const gone = new AbortController()
  socket.once('end', () => socket.destroy()).once('close', () => gone.abort())
  const read = lineReader(socket, gone.signal)
  const answer = (line: MoveAnswer) => void socket.write(`${JSON.stringify(line)}\n`)
  const late = setTimeout(() => socket.destroy(), PREPARED_MS)
  let isCut = () => false
  try {
    using members = await connectAll(as(isShards, await read()), epoch, parts.tunnels)
    isCut = () => all(members).some(({ cut }) => cut.signal.aborted)
    // A higher one may have come before these connections were there to be cut.
    await parts.fence.admit(epoch)
    for (let n = 0; n < REHEARSALS; n += 1) await look(members)
    answer({ ready: true })
    const terms = as(isTerms, await read())
    clearTimeout(late)
    const order = { ...terms, onGiven: () => answer({ giving: true }) }
    const work = () => inSpan(ofAgent, () => move(members, order, gone.signal, parts))
    const result = await parts.spans.join(terms.traceparent, work)
    answer(result)
    if (result.moved === undefined) return
    await Promise.race([read().catch(() => undefined), delay(RELEASED_WITHIN_MS, undefined, { ref: false })])
    await follow(members, terms, parts)
    answer({ following: true })
  } catch (cause) {
    answer({ failed: { by: isCut() ? 'cut' : blame(cause), why: messageOf(cause) } })
  } finally {
    clearTimeout(late)
    socket.end()
  }
}

function blame(cause: unknown): NonNullable<MoveAnswer['failed']>['by'] {
  if (cause instanceof EngineError) return 'refusal'
  if (cause instanceof EngineUnreachable) return 'silence'
  if (!(cause instanceof Refusal)) return 'cut'
  if (cause.code === 'stale_epoch') return 'stale'
  return cause.code === 'unavailable' ? 'silence' : 'cut'
}

/** Lets the old primary follow the successor, which serves without a replica until then. */
async function follow(
  { primary }: Members,
  { followAt: { host, port } }: MoveTerms,
  { look: lookForStall, onEffect = () => undefined }: MoveParts,
): Promise<void> {
  const effect = createEffect(async (phase, name) => {
    await onEffect(phase, name)
    lookForStall()
  })
  await effect('follow', () => primary.call('REPLICAOF', host, port))
}

function all({ primary, successor, others }: Members): readonly CutConnection[] {
  return [primary, successor, ...others]
}

const ofAgent = { name: 'move-role', kind: 'server', attributes: { 'fairlead.part': 'agent' } } as const

async function move(
  members: Members,
  terms: MoveTerms & Pick<MoveOrder, 'onGiven'>,
  gone: AbortSignal,
  { look: lookForStall, onEffect = () => undefined }: MoveParts,
): Promise<MoveAnswer> {
  const elapsed = () => performance.now()
  const until = elapsed() + terms.validForMs
  const cut = AbortSignal.any([
    ...all(members).map((member) => member.cut.signal),
    ...[gone, AbortSignal.timeout(WITHIN_MS)],
  ])
  const end = () => {
    for (const member of all(members)) member.cut.abort()
  }
  cut.addEventListener('abort', end)
  const effect = createEffect(async (phase, name) => {
    await onEffect(phase, name)
    lookForStall()
    if (phase === 'before') cut.throwIfAborted()
  })
  try {
    const moved = await moveRole({ ...members, ...terms, until }, { effect, elapsed })
    return 'why' in moved ? { notMoved: moved } : { moved }
  } catch (cause) {
    return { failed: { by: cut.aborted ? 'cut' : blame(cause), why: messageOf(cause) } }
  } finally {
    cut.removeEventListener('abort', end)
  }
}

/** Returns a function that reads the next line. It rejects when the socket is closed, or sends too much. */
function lineReader(socket: Socket, gone: AbortSignal): () => Promise<string> {
  const lines = createInterface({ input: socket }).on('error', () => undefined) // the socket closes, too
  socket.on('data', () => {
    if (socket.bytesRead > MOST_BYTES) socket.destroy()
  })
  return async () => {
    const [line] = (await once(lines, 'line', { signal: gone })) as [string]
    return line
  }
}

function as<T>(isFit: ReturnType<typeof compileSchema<T>>, line: string): T {
  const value: unknown = JSON.parse(line)
  if (isFit(value)) return value
  throw new Error(describeFault(isFit.errors?.[0]))
}

async function connectAll(
  { primary, successor, others }: MovingShards,
  epoch: Epoch,
  { connect }: Pick<Tunnels, 'connect'>,
): Promise<Members> {
  using stack = new DisposableStack()
  const of = async (shard: string) => stack.use(await connect({ shard, epoch }))
  const opening = [primary, successor, ...others].map(of)
  // One that opens after another has failed must be closed, too.
  await Promise.allSettled(opening)
  const [mine, theirs, ...rest] = await Promise.all(opening)
  if (mine === undefined || theirs === undefined) throw new Error('a group has two members')
  const owned = stack.move()
  return { primary: mine, successor: theirs, others: rest, [Symbol.dispose]: () => owned[Symbol.dispose]() }
}
