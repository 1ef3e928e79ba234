import { Refusal, type ShardSpec } from '@fairlead/api'
import type { ProcessRecord, ShardFolder, WantedRecord } from '../folder/shard-folder.ts'
import { type View, viewOfPut } from './describe-shard.ts'
import { nextWanted } from './next-wanted.ts'
import type { StartTrace } from './trace-starts.ts'

/** Wanted state of a shard, and its view. */
interface Wanting {
  wanted: WantedRecord
  view: View
  readonly last: ProcessRecord | null
  readonly starts: Pick<StartTrace, 'asked'>
  /** Causes an immediate look at the shard. */
  readonly wake: () => void
}

/** Accepts a spec; durable when it resolves. Refuses during a removal, and a spec of another database. */
export async function putSpec(state: Wanting, folder: ShardFolder, spec: ShardSpec): Promise<void> {
  if (state.wanted.gone)
    throw new Refusal('unavailable', `shard ${folder.id} is being removed; put it again when it is gone`)
  // Each database has a separate, constant password. A restored store does not know newer shards, and reuses
  // their numbers.
  if (spec.adminPassword !== state.wanted.spec.adminPassword)
    throw new Refusal('shard_of_another', `shard ${folder.id} of this node belongs to another database`)
  const encodings = spec.encodings ?? state.wanted.spec.encodings
  const next = nextWanted(state.wanted, encodings ? { ...spec, encodings } : spec, state.view.state)
  if (next === state.wanted) return
  await folder.writeWanted(next)
  if (next.order > state.wanted.order) {
    state.view = viewOfPut(state.last)
    state.starts.asked()
  }
  state.wanted = next
  state.wake()
}

/** Changes the wanted state without a new process, unless it is being removed; durable when it resolves. */
export async function want(
  state: Wanting,
  folder: ShardFolder,
  news: Partial<Pick<WantedRecord, 'spec' | 'gone'>>,
): Promise<void> {
  if (state.wanted.gone) return
  const next = { ...state.wanted, ...news }
  await folder.writeWanted(next)
  state.wanted = next
  state.wake()
}
