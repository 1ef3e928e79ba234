import { findStrangers, nameStranger, type Stranger } from '../../core/plan/strangers.ts'
import { noneReported, strangersToReport } from '../../core/plan/strangers-to-report.ts'
import type { Action } from '../../core/state/action.ts'
import type { Database, SlotRange } from '../../core/state/database.ts'
import { readSlotRanges, writeSlotRanges } from '../../core/state/slot-ranges.ts'
import { type ClusterNode, isAt, isLive, type ObservedDatabase } from '../../core/state/topology.ts'
import type { PassingTime } from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { type ReportingPorts, reportEvent } from './report-data-loss.ts'

/**
 * Reports nodes in the cluster that are not, and never were, shards of the database, even without an action:
 * once an hour each, many as a number (core/plan/strangers-to-report.ts). Former shards are forgotten without
 * a report. A restarted server takes any node without slots for a former shard.
 */
export async function reportStrangers(
  seen: ObservedDatabase,
  about: { readonly database: Database; readonly action: Action | undefined },
  ports: ReportingPorts & PassingTime,
  memory: TurnMemory,
): Promise<void> {
  const { uid } = about.database
  if (!about.database.cluster) return
  const strangers = findStrangers(seen).filter(({ former }) => !former)
  const met = meet(seen, strangers, memory.metNodes.get(uid))
  memory.metNodes.set(uid, met)
  const unknown = strangers.filter(({ node, slots }) => slots !== '' || !met.has(node))
  const { named, more, reported } = strangersToReport(
    unknown,
    memory.reportedStrangers.get(uid) ?? noneReported,
    ports.time.elapsed(),
  )
  memory.reportedStrangers.set(uid, reported)
  for (const stranger of named) await reportEvent(newsOf(stranger), about, ports)
  if (more > 0) await reportEvent(newsOfMore(more), about, ports)
}

/** Adds shards, and nodes at a shard's address: these are from a former process, or do not answer yet. */
function meet(
  { groups }: ObservedDatabase,
  strangers: readonly Stranger[],
  met = new Set(strangers.filter(({ slots }) => slots === '').map(({ node }) => node)),
): Set<string> {
  const records = groups.flatMap(({ shards }) => shards)
  for (const { engine } of records.filter(isLive))
    for (const node of engine.cluster?.nodes ?? [])
      if (node.id === engine.cluster?.id || records.some((shard) => isAt(node.address, shard)))
        met.add(node.id)
  // An engine may invent any number. The oldest are dropped: at worst they are reported twice.
  return met.size <= MOST_MET ? met : new Set([...met].slice(-MOST_MET))
}

const MOST_MET = 1_000

function newsOfMore(count: number) {
  const words =
    `${count} more nodes are in the cluster and are no shards of the database:` +
    ' every shard is told to forget them (docs/explain/strangers.md)'
  return { type: 'bdb_stranger_in_cluster', words, details: { more: String(count) } } as const
}

function newsOf(stranger: Stranger) {
  const { node, address, slots, followedBy } = stranger
  const claims = slots === '' ? 'without slots' : `with slots ${writeSlotRanges(readSlotRanges(slots))}`
  const words =
    `${nameStranger(stranger)}, ${claims}, is in the cluster and is no shard of the database:` +
    ' every shard is told to forget it (docs/explain/strangers.md)'
  const details = {
    node,
    address: `${address.host}:${address.port}`,
    slots,
    ...(followedBy.length > 0 && { followed_by: followedBy.join(' ') }),
  }
  return { type: 'bdb_stranger_in_cluster', words, details } as const
}

/** Reports slots that were taken back. Writes acknowledged by the other node were never in this database. */
export async function reportTakeBack(
  { shard, slots, thief }: { readonly shard: number; readonly slots: SlotRange; readonly thief: ClusterNode },
  { database, action, ports }: Pick<StepContext<ReportingPorts>, 'database' | 'action' | 'ports'>,
): Promise<void> {
  const from = nameStranger({ node: thief.id, address: thief.address })
  const range = writeSlotRanges([slots])
  const words =
    `shard ${shard} has taken slots ${range} back from ${from}, with the data that it held;` +
    ' what that node has acknowledged meanwhile is not in it'
  const address = `${thief.address.host}:${thief.address.port}`
  const details = { shard: String(shard), slots: range, node: thief.id, address }
  await reportEvent({ type: 'bdb_slots_taken_back', words, details }, { database, action }, ports)
}
