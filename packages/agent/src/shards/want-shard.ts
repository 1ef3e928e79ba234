import { Refusal, type WantedShard } from '@fairlead/api'
import type { ProcessRecord, ShardFolder, WantedRecord } from '../folder/shard-folder.ts'
import { type View, viewOfPut } from './describe-shard.ts'
import { settleWanted } from './settle-wanted.ts'

/** What is wanted of a shard, and its view. */
interface Wanting {
  wanted: WantedRecord
  view: View
  readonly last: ProcessRecord | null
  /** Has the shard looked at now. */
  readonly wake: () => void
}

/** Takes a wish. It is durable when this resolves. Refuses while the shard is being removed. */
export async function putWish(state: Wanting, folder: ShardFolder, wish: WantedShard): Promise<void> {
  if (state.wanted.gone)
    throw new Refusal('unavailable', `shard ${folder.id} is being removed; put it again when it is gone`)
  const next = settleWanted(state.wanted, wish, state.view.state)
  if (next === state.wanted) return
  await folder.writeWanted(next)
  if (next.order > state.wanted.order) state.view = viewOfPut(state.last)
  state.wanted = next
  state.wake()
}

/** Wants something else of it that needs no other process. Nothing of one that is being removed. Durable when this resolves. */
export async function want(
  state: Wanting,
  folder: ShardFolder,
  news: Partial<Pick<WantedRecord, 'wish' | 'gone'>>,
): Promise<void> {
  if (state.wanted.gone) return
  const next = { ...state.wanted, ...news }
  await folder.writeWanted(next)
  state.wanted = next
  state.wake()
}
