import { applyDeadlines, isUndoable } from '../../core/plan/apply-deadlines.ts'
import { planDatabase } from '../../core/plan/plan-database.ts'
import type { Action } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import { allowedBy, unrestricted } from '../../core/state/orders.ts'
import { findGroup, type Goal, type ObservedDatabase } from '../../core/state/topology.ts'
import { keepWithinReach } from '../carry-over/keep-within-reach.ts'
import { keepEndpoint } from '../clients/endpoints.ts'
import { keepTapes } from '../clients/keep-tapes.ts'
import { keepWritesGoing } from '../handover/keep-writes-going.ts'
import { endReservations, keepHistory } from '../records/keep-records.ts'
import { noteAction } from '../records/note-action.ts'
import { noteObstacle } from '../records/note-obstacle.ts'
import { reportHangingShards } from '../records/report-data-loss.ts'
import { reportStrangers } from '../records/report-strangers.ts'
import { keepLimits } from '../shards/keep-limits.ts'
import { keepNodeTimeout } from '../shards/keep-node-timeout.ts'
import { keepPasswords } from '../shards/keep-passwords.ts'
import { keepSaving } from '../shards/keep-saving.ts'
import { keepStreams } from '../shards/keep-streams.ts'
import { keepSyncRoom } from '../shards/keep-sync-room.ts'
import { keepUsers } from '../shards/keep-users.ts'
import { keepShardCertificates } from '../shards/shard-certificates.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import type { TurnPorts } from './turn-ports.ts'

/** State of a turn when its steps are chosen. */
export interface TurnState {
  /** Start of the look (Time.elapsed). */
  readonly began: number
  readonly database: Database
  readonly action: Action | undefined
  readonly goal: Goal
  readonly seen: ObservedDatabase
  readonly lanes: readonly Lane[]
}

/** Does the upkeep that needs no plan, and chooses the steps. */
export async function decide(
  look: Omit<TurnState, 'lanes'>,
  ports: TurnPorts,
  memory: TurnMemory,
): Promise<TurnState> {
  const { database, action, goal, seen } = look
  await keepHistory({ database, action }, seen, ports, memory)
  await endReservations(seen, ports)
  if (goal.kind === 'keep') {
    await keepLimits(database, seen, ports, memory)
    await keepSaving(database, seen, ports, memory)
    await keepPasswords(database, seen, ports, memory)
  }
  await keepUsers(database, seen, ports, memory)
  await keepShardCertificates(database, seen, ports, memory)
  await keepSyncRoom(database, seen, ports, memory)
  await keepNodeTimeout(database, seen, ports, memory)
  await keepStreams(database, seen, ports, memory)
  await keepWithinReach(database, seen, ports, memory)
  await keepWritesGoing(database, seen, ports, memory)
  await reportHangingShards(seen, { database, action }, ports, memory)
  await reportStrangers(seen, { database, action }, ports, memory)
  await keepEndpoint(database, goal, seen, ports, memory).catch((cause: unknown) => {
    // A turn of a database in service continues without its endpoint; a creation or removal waits for it.
    if (action !== undefined && action.kind !== 'upgrade') throw cause
    ports.log.warn(
      { err: cause, database: database.uid },
      'the endpoint could not be brought to its wanted state',
    )
  })
  const lanes = planLanes({ database, action, goal, seen }, memory, ports.now())
  await keepTapes(database, seen, lanes, ports, memory)
  await noteObstacle({ database, action }, lanes, ports)
  if (action !== undefined) await noteAction(action, seen, lanes, memory, ports)
  return { ...look, lanes }
}

/** Returns each group's verdict: the plan within people's orders, with the deadlines of waits. Pure. */
export function planLanes(
  { database, action, goal, seen }: Pick<TurnState, 'database' | 'action' | 'goal' | 'seen'>,
  memory: Pick<TurnMemory, 'waitedMs' | 'whyHeld'>,
  now: number,
): readonly Lane[] {
  const { uid } = database
  const handedOverAt = action?.handedOverAt == null ? null : Date.parse(action.handedOverAt)
  const allowed = action === undefined ? unrestricted : allowedBy(goal, action.orders, handedOverAt, now)
  const undoable = action !== undefined && isUndoable(seen, goal)
  const whatToDo = action?.kind === 'upgrade' ? RETRY : ''
  return planDatabase(seen, goal, allowed).map(({ group, verdict }) => ({
    group,
    verdict: applyDeadlines(
      verdict,
      {
        waitedMs: memory.waitedMs(uid, group, verdict),
        held: memory.whyHeld(uid, group),
        seedBytes: goal.seeds?.find((seed) => seed.group === group)?.data.memoryBytes ?? 0,
      },
      findGroup(seen, group),
      undoable,
      whatToDo,
    ),
  }))
}

/** The usual reason for a wait that takes too long is a busy machine. */
const RETRY = '; everything begun is undone. If the machine was busy, try again with the order retry'
