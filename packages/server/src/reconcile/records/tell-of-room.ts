import { judgeHeir } from '../../core/state/heir-memory.ts'
import { isLive } from '../../core/state/topology.ts'
import type { ActionRecords, Clock } from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'
import { warnOf } from './note-action.ts'

/** An heir that has little room left where its primary had more: people should know before their clients do. */
export async function tellOfRoom(
  { from, to }: { readonly from: number; readonly to: number },
  { seen, action, ports }: Pick<StepContext<ActionRecords & Clock>, 'seen' | 'action' | 'ports'>,
): Promise<void> {
  const [primary, heir] = [from, to].map((id) => seen.shards.find((shard) => shard.id === id))
  if (action === undefined || primary === undefined || heir === undefined) return
  if (!isLive(primary) || !isLive(heir)) return
  const { verdict, why } = judgeHeir(heir, { seen, goal: action.goal, primary })
  if (verdict === 'near') await warnOf(action, why, ports)
}
