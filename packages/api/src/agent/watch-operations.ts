import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { ProxyState } from './proxy-state.ts'
import { ShardReport } from './shard-report.ts'

/** More are asked for in several requests. */
export const MOST_SHARDS_ASKED = 1_000

/** Some of the shards of a node, and what the node has free; sizes are in bytes. */
export const ShardsReport = Type.Object({
  memoryFreeBytes: Type.Integer(),
  diskFreeBytes: Type.Integer(),
  /** Those that the agent knows. */
  shards: Type.Array(ShardReport),
})
export type ShardsReport = Static<typeof ShardsReport>

/** Server → agent. Shards that are asked for are looked at more often for a moment. */
export const reportShards = operation({
  method: 'POST',
  path: '/agent/report/shards',
  summary: 'Report these shards, and what the node has free',
  since: '0.1.0',
  permission: null,
  body: Type.Object(
    { ids: Type.Array(Type.String(), { maxItems: MOST_SHARDS_ASKED }) },
    { additionalProperties: false },
  ),
  ok: ShardsReport,
  errors: [],
})

/** How far the stream of a primary was at the last look at its process, which may have died since. */
export const SeenOffset = Type.Object({
  id: Type.String(),
  runId: Type.String(),
  replid: Type.String(),
  offset: Type.Integer(),
})
export type SeenOffset = Static<typeof SeenOffset>

/** What an agent has found out since. */
export const Changes = Type.Object({
  /** Another one: the agent was started again, and counts anew. */
  boot: Type.String(),
  /** What to ask after next time. */
  seq: Type.Integer(),
  /** Of the marks of all shards: it tells a listener whether it has missed something. */
  digest: Type.String(),
  /** Every shard is listed: those that are not are gone. */
  all: Type.Boolean(),
  /** Another mark: something about the shard is different that a decision may depend on. What, the report says. */
  shards: Type.Array(Type.Object({ id: Type.String(), mark: Type.String() })),
  gone: Type.Array(Type.String()),
  /** Streams that have grown by writes. */
  offsets: Type.Array(SeenOffset),
  proxy: ProxyState,
})
export type Changes = Static<typeof Changes>

/** Server → agent. Answers at once where there is something to tell; else when there is, or after `waitMs` with nothing. */
export const awaitChanges = operation({
  method: 'POST',
  path: '/agent/changes',
  summary: 'Wait for changes of shards and proxy after those that were told with this number',
  since: '0.1.0',
  permission: null,
  body: Type.Object(
    {
      /** Of the last answer; another one than the agent's, or none: everything is told. */
      boot: Type.String(),
      after: Type.Integer({ minimum: 0 }),
      waitMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
    },
    { additionalProperties: false },
  ),
  ok: Changes,
  errors: [],
})

/** Of marks in any order: each is 12 hexadecimal digits. */
export function digestOfMarks(marks: Iterable<string>): string {
  const digest = createDigest()
  for (const mark of marks) digest.toggle(mark)
  return digest.text()
}

/** A digest that is kept while marks come and go. */
export interface Digest {
  /** A mark that is not in it comes in; one that is in it goes. */
  toggle(mark: string): void
  text(): string
}

/** Of no marks. */
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
