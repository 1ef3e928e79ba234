import type { Address, ShardSpec } from '@fairlead/api'
import type { Loss, Silence } from '../engine/decide-silent.ts'
import { hasDataOnDisk } from '../folder/read-data-on-disk.ts'
import type { ProcessRecord, ShardFolder } from '../folder/shard-folder.ts'
import type { ActivityWatch } from '../process/watch-activity.ts'

/** Limits of a process's silence without activity, and knowledge of the other shards. */
export interface SilenceRules {
  /** Limit in ms for a process without loss. */
  readonly hungAfterMs: number
  /** Limit in ms for any other process. */
  readonly primaryHungAfterMs: number
  /** True if a shard of this node serves at this address and answers. */
  serves(address: Address): boolean
}

/**
 * Describes a process that has not answered for `forMs`; null if it has just gone. `spec` is the wanted one:
 * the role may have changed since its start. Throws if the data folder is unreadable.
 */
export async function seeSilence(
  {
    last,
    spec,
    folder,
    forMs,
    ordered,
    activity,
  }: {
    readonly last: ProcessRecord
    readonly spec: ShardSpec
    readonly folder: ShardFolder
    readonly forMs: number
    readonly ordered: boolean
    readonly activity: ActivityWatch
  },
  { hungAfterMs, primaryHungAfterMs, serves }: SilenceRules,
): Promise<Silence | null> {
  const pid = last.identity?.pid
  const seen = pid === undefined ? null : activity.look(pid, performance.now())
  if (pid === undefined || seen === null) return null
  const loss = await whatIsLost(last, spec, folder, serves)
  const onDisk = await hasDataOnDisk(folder.data, spec.persistence)
  return { pid, forMs, activity: seen, loss, onDisk, ordered, hungAfterMs, primaryHungAfterMs }
}

/** Returns the loss if this process ends now (see Loss). */
export async function whatIsLost(
  last: Pick<ProcessRecord, 'answeredAt'>,
  spec: Pick<ShardSpec, 'onCrash' | 'replicaOf' | 'persistence'>,
  folder: Pick<ShardFolder, 'data'>,
  serves: (address: Address) => boolean,
): Promise<Loss> {
  // It loads its data from the disk.
  if (last.answeredAt === null) return 'nothing'
  if (spec.onCrash === 'wait') return 'unknown'
  // A replica whose primary is gone may become primary: only the server knows.
  if (spec.replicaOf !== null) return serves(spec.replicaOf) ? 'nothing' : 'unknown'
  return (await hasDataOnDisk(folder.data, spec.persistence)) ? 'unsaved' : 'everything'
}
