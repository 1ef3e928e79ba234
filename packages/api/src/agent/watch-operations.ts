import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'
import { ShardReport } from './shard-report.ts'

/** Ask for more in several requests. */
export const MOST_SHARDS_ASKED = 1_000

/** Some shards of a node, and its free resources; sizes in bytes. */
export const ShardsReport = Type.Object({
  memoryFreeBytes: Type.Integer(),
  diskFreeBytes: Type.Integer(),
  /** The known ones. */
  shards: Type.Array(ShardReport),
})
export type ShardsReport = Static<typeof ShardsReport>

/** Server → agent. The agent then examines these shards more often for a moment. */
export const reportShards = socketOperation({
  method: 'POST',
  path: '/agent/report/shards',
  summary: 'Report these shards, and what the node has free',
  body: closed({ ids: Type.Array(Type.String(), { maxItems: MOST_SHARDS_ASKED }) }),
  ok: ShardsReport,
})

/** The offset of a primary at the last look; its process may have died since. */
export const SeenOffset = Type.Object({
  id: Type.String(),
  runId: Type.String(),
  replid: Type.String(),
  offset: Type.Integer(),
})
export type SeenOffset = Static<typeof SeenOffset>

/**
 * The proxy process of the node; `why` has the reason of a failure:
 * - `starting`: not answered yet.
 * - `exited`: died, and will be restarted.
 * - `failed`: died before it answered, or cannot be started; it is retried.
 */
export const ProxyState = Type.Object({
  state: Type.Enum(['starting', 'running', 'exited', 'failed']),
  pid: Type.Union([Type.Integer(), Type.Null()]),
  why: Type.String(),
  /** Deaths without an order since it was last stopped on order. */
  crashes: Type.Integer(),
  /** Reason and time (Unix milliseconds) of the previous process's death; absent: none died. */
  diedBefore: Type.Optional(Type.Object({ at: Type.Integer(), why: Type.String() })),
})
export type ProxyState = Static<typeof ProxyState>

/** Changes that an agent has noticed. */
export const Changes = Type.Object({
  /** A new value: the agent restarted, and counts from zero. */
  boot: Type.String(),
  /** Pass it as `after` next time. */
  seq: Type.Integer(),
  /** Digest of all shards' marks, by which a listener notices missed changes. */
  digest: Type.String(),
  /** Every shard is listed; others are gone. */
  all: Type.Boolean(),
  /** A new mark: something has changed that may affect a decision; the report shows what. */
  shards: Type.Array(Type.Object({ id: Type.String(), mark: Type.String() })),
  gone: Type.Array(Type.String()),
  /** Streams that have grown by writes. */
  offsets: Type.Array(SeenOffset),
  proxy: ProxyState,
})
export type Changes = Static<typeof Changes>

/** Server → agent. Answers immediately if there are changes, else on the next one, or after `waitMs`. */
export const awaitChanges = socketOperation({
  method: 'POST',
  path: '/agent/changes',
  summary: 'Wait for changes of shards and proxy after those that were told with this number',
  body: closed({
    /** From the last answer. If it differs from the agent's, everything is reported. */
    boot: Type.String(),
    after: Type.Integer({ minimum: 0 }),
    waitMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
  }),
  ok: Changes,
})

/** Digest of marks in any order; each has 12 hexadecimal digits. */
export function digestOfMarks(marks: Iterable<string>): string {
  const digest = createDigest()
  for (const mark of marks) digest.toggle(mark)
  return digest.text()
}

/** A digest of a changing set of marks. */
export interface Digest {
  /** Adds a mark, or removes it if present. */
  toggle(mark: string): void
  text(): string
}

/** Creates the digest of an empty set. */
export function createDigest(): Digest {
  let [high, low] = [0, 0]
  return {
    toggle(mark) {
      high ^= Number.parseInt(mark.slice(0, 6), 16)
      low ^= Number.parseInt(mark.slice(6, 12), 16)
    },
    text: () => `${high.toString(16)} ${low.toString(16)}`,
  }
}
