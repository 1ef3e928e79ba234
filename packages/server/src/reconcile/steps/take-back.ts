import { readClusterNodes } from '@fairlead/engine'
import { slotsToTakeBack } from '../../core/plan/slots-to-take-back.ts'
import type { Step } from '../../core/state/topology.ts'
import type { ReportingPorts } from '../records/report-data-loss.ts'
import { reportTakeBack } from '../records/report-strangers.ts'
import type { Outcome } from '../turn/outcome.ts'
import type { PassingTime, TakingOver } from '../turn/ports.ts'
import { type CommandContext, member, type StepContext } from '../turn/step-context.ts'
import { ORDER_WITHIN_MS, readClock } from '../turn/take-over.ts'
import { afterRefusal } from './raise-epoch.ts'

/** Ports for giving the slots of a group back to its shard. */
export type TakingBackPorts = ReportingPorts & CommandContext['ports'] & TakingOver & PassingTime

/** Gives a group's slots back to the shard with their data, from a foreign node. Atomic: one script. */
export async function takeBack(
  { shard, slots }: Extract<Step, { kind: 'take-back' }>,
  context: Pick<StepContext<TakingBackPorts>, 'database' | 'everybody' | 'action' | 'ports'>,
): Promise<Outcome> {
  const { database, ports, everybody } = context
  const successor = await ports.engines.connect(database, member(shard, { members: everybody }))
  const [clock, nodes] = await Promise.all([
    readClock(successor, ports.time),
    successor.call('CLUSTER', 'NODES'),
  ])
  const view = readClusterNodes(String(nodes))
  const own = view.find(({ myself }) => myself)
  const thief = view.find(({ id }) => id === own?.primary)
  if (own === undefined || thief === undefined)
    return {
      kind: 'not yet',
      code: 'cluster_view',
      why: `shard ${shard} does not know the node that it follows any more`,
    }
  const until = ports.time.elapsed() + ORDER_WITHIN_MS
  const order = slotsToTakeBack(view, own.id, slots)
  const answer = await ports.takeovers.order(successor, { clock, until }, ports.effect, order)
  if (answer !== 'taken') return afterRefusal(shard, answer, context)
  await reportTakeBack({ shard, slots, thief }, context)
  return { kind: 'done' }
}
