import type { EffectRunner } from '@fairlead/engine'
import type { Handover } from '../../core/state/handover.ts'
import type { Step } from '../../core/state/topology.ts'
import type { HandoverRecord } from '../handover/hand-over.ts'
import type {
  ActionRecords,
  Clock,
  DatabaseRecords,
  HandoverRecords,
  Log,
  OrdersGiven,
} from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'

/** Ports for recording a handover, before and after it. */
export type RecordingPorts = HandoverRecords<'intend' | 'certify' | 'close'> &
  DatabaseRecords<'setPrimary' | 'setHistories'> &
  ActionRecords &
  OrdersGiven<'begin'> &
  EffectRunner &
  Clock &
  Log

/** Records one handover of a group, from its intent. */
export function recordHandover(
  { from, to }: Extract<Step, { kind: 'hand-over' }>,
  fullSyncsBefore: Handover['fullSyncsBefore'],
  context: Pick<StepContext<RecordingPorts>, 'database' | 'group' | 'seen' | 'action' | 'ports'>,
): HandoverRecord {
  const { database, group, seen, action, ports } = context
  const { databases, handovers, effect, now, log } = ports
  const [old, successor] = [from, to].map((shard) => seen.shards.find(({ id }) => id === shard)?.engine)
  const at = () => new Date(now()).toISOString()
  let handover: Handover | undefined
  const intended = () => {
    if (handover === undefined) throw new Error('a handover is recorded before it starts')
    return handover
  }
  return {
    async intend() {
      handover = await effect('record-intent', () =>
        handovers.intend({
          databaseUid: database.uid,
          group,
          actionUid: action?.uid ?? null,
          from,
          to,
          fullSyncsBefore,
          intendedAt: at(),
          standby: { shard: from, runId: old?.runId ?? '', errorReplies: old?.errorReplies ?? 0 },
        }),
      )
      ports.ordersToServe.begin({ databaseUid: database.uid, group })
      log.info({ database: database.uid, group, from, to }, 'the primary role moves')
    },
    abandon: () => handovers.close(intended().id, null, at()),
    /**
     * If each write is on disk before it is acknowledged, the recorded primary must be the shard with these
     * writes before the first client arrives: after a crash of all processes it is started from its disk.
     * With other settings a crash may lose the last writes anyway.
     */
    async serving() {
      if (database.persistence === 'aof')
        await effect('record-serving', () => databases.setPrimary(database.uid, group, to))
    },
    async cut(clients) {
      if (clients === 0) return
      const why = `${clients} client(s) were closed: their requests took too long to arrive, or their replies did not come, and the handover was delayed repeatedly`
      // The proxy's log names these clients.
      log.warn({ database: database.uid, cut: clients }, 'clients with requests that do not end were closed')
      if (action !== undefined) await ports.actions.warn(action.uid, why, at())
    },
    moved: (certificate) => effect('record-handover', () => handovers.certify(intended(), certificate)),
    history: (point) =>
      databases.setHistories(database.uid, [
        { group, history: { ...point, runId: successor?.runId ?? null } },
      ]),
  }
}
