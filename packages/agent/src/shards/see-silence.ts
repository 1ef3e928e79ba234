import type { Address, ShardSpec } from '@fairlead/api'
import type { Loss, Silence } from '../engine/decide-silent.ts'
import { hasDataOnDisk } from '../folder/read-data-on-disk.ts'
import type { ProcessRecord, ShardFolder } from '../folder/shard-folder.ts'
import type { ActivityWatch } from '../process/watch-activity.ts'

/** How long a process may be silent and do nothing, and what this node knows of the others. */
export interface SilenceRules {
  /** Of a process with which nothing is lost. Milliseconds. */
  readonly hungAfterMs: number
  /** Of any other. Milliseconds. */
  readonly primaryHungAfterMs: number
  /** Does a shard of this node serve at this address, and answer? */
  serves(address: Address): boolean
}

/**
 * What is there to know of a process that has not answered for `forMs`. Null when it has just gone. `spec` is what is wanted now: the
 * role may have changed since the process was started. Throws when the data folder cannot be read.
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
  return { ...{ pid, forMs, activity: seen, loss, onDisk, ordered }, hungAfterMs, primaryHungAfterMs }
}

/** See Loss: what is lost when this process ends now. */
export async function whatIsLost(
  last: Pick<ProcessRecord, 'answeredAt'>,
  spec: Pick<ShardSpec, 'onCrash' | 'replicaOf' | 'persistence'>,
  folder: Pick<ShardFolder, 'data'>,
  serves: (address: Address) => boolean,
): Promise<Loss> {
  // Its data are on the disk from which it loads them.
  if (last.answeredAt === null) return 'nothing'
  if (spec.onCrash === 'wait') return 'unknown'
  // A replica whose primary is gone may be the next primary: only the server knows.
  if (spec.replicaOf !== null) return serves(spec.replicaOf) ? 'nothing' : 'unknown'
  return (await hasDataOnDisk(folder.data, spec.persistence)) ? 'unsaved' : 'everything'
}
