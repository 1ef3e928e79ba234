import type { Foreseen } from '../../core/dry-run/foresee.ts'
import { advanceLane, nameComing } from '../../core/progress/advance-lane.ts'
import { since } from '../../core/progress/wait-of.ts'
import type { Action, ActionNews } from '../../core/state/action.ts'
import { windowEndsOf } from '../../core/state/action-phase.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { LaneRecord, Waiting } from '../../core/state/lane-record.ts'
import { findGroup, isLive, type ObservedDatabase } from '../../core/state/topology.ts'
import type { ActionRecords } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { traceWaits } from './trace-waits.ts'

/** Findings of a turn in all groups. */
interface Found {
  readonly seen: ObservedDatabase
  readonly lanes: readonly Lane[]
  /** Undefined if not computed in this turn. */
  readonly toCome: readonly Foreseen[] | undefined
  /** ISO 8601. */
  readonly at: string
}

/** Returns the changed lanes of an action, and the fields of the whole action that follow from its lanes. */
export async function noteLanes(
  action: Action,
  found: Found,
  memory: Pick<TurnMemory, 'whyHeld' | 'isTime'>,
  { actions }: ActionRecords<'lanes'>,
): Promise<Pick<ActionNews, 'waiting' | 'handingOver' | 'lanes'>> {
  const { seen, lanes, toCome, at } = found
  const { databaseUid, goal } = action
  const known = await actions.lanes(action.uid)
  const isSyncing = seen.groups.some(({ shards }) =>
    shards.some((shard) => isLive(shard) && shard.engine.sync != null),
  )
  const isTimeForLag = memory.isTime(`lag of ${databaseUid}`, isSyncing ? SYNC_EVERY_MS : LAG_EVERY_MS)
  const windowEnds = windowEndsOf(action)
  const now = lanes.map(({ group, verdict }) => {
    const of = findGroup(seen, group)
    const coming = toCome?.filter((one) => one.group === group).map(({ step }) => step)
    return advanceLane(
      known.find((lane) => lane.group === group),
      {
        verdict,
        seen: of,
        goal,
        windowEnds,
        isTimeForLag,
        at,
        held: memory.whyHeld(databaseUid, group),
        toCome: coming && nameComing(coming, of, goal),
      },
    )
  })
  const changed = now.filter(
    (lane) => JSON.stringify(lane) !== JSON.stringify(known.find(({ group }) => group === lane.group)),
  )
  traceWaits(action, known, now)
  return {
    waiting: since(waitOfAll(now), action.waiting, at),
    handingOver: lanes.some(({ verdict }) => verdict.kind === 'do' && MOVING.includes(verdict.step.kind)),
    ...(changed.length > 0 && { lanes: changed }),
  }
}

const MOVING: readonly string[] = ['hand-over', 'restart-primary', 'release-handover']

/** Interval for updating followers' progress: each is a record if the database is written to. */
const LAG_EVERY_MS = 5_000
const SYNC_EVERY_MS = 1_000

/** Returns the wait that people should know first; null while any group works. */
function waitOfAll(lanes: readonly LaneRecord[]): Waiting | null {
  const open = lanes.filter(({ state }) => state !== 'done')
  if (open.some(({ waiting }) => waiting === null)) return null
  const waits = open.flatMap(({ waiting }) => waiting ?? [])
  const first = waits.toSorted((a, b) => rank(a) - rank(b))[0]
  if (first === undefined) return null
  const { shard, until, stuck, on, code, why } = first
  return { shard, until, stuck, on, code, why }
}

function rank({ stuck, on }: Waiting): number {
  if (stuck) return 0
  return ['shard', 'capacity', 'person', 'time', 'group'].indexOf(on) + 1
}
