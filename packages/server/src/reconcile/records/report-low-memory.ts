import { judgeSuccessor } from '../../core/state/successor-memory.ts'
import { isLive } from '../../core/state/topology.ts'
import type { ActionRecords, Clock } from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'

/** Warns of a successor with little memory left where its primary had more, before clients notice. */
export async function reportLowMemory(
  { from, to }: { readonly from: number; readonly to: number },
  { seen, action, ports }: Pick<StepContext<ActionRecords & Clock>, 'seen' | 'action' | 'ports'>,
): Promise<void> {
  const [primary, successor] = [from, to].map((id) => seen.shards.find((shard) => shard.id === id))
  if (action === undefined || primary === undefined || successor === undefined) return
  if (!isLive(primary) || !isLive(successor)) return
  const { verdict, why } = judgeSuccessor(successor, { seen, goal: action.goal, primary })
  if (verdict === 'near') await ports.actions.warn(action.uid, why, new Date(ports.now()).toISOString())
}
