import { readClusterNodes } from '@fairlead/engine'
import { slotsToTakeBack } from '../../core/plan/slots-to-take-back.ts'
import type { Step } from '../../core/state/topology.ts'
import { tellOfTakeBack } from '../records/tell-of-strangers.ts'
import { lateOrder, type Outcome } from '../turn/outcome.ts'
import { member, type Scene } from '../turn/scene.ts'
import { ORDER_WITHIN_MS, readClock } from '../turn/take-over.ts'

/** The slots of a group go back to the shard that holds their data, from a node that is none of the group's. One script: all or nothing. */
export async function takeBack(
  { shard, slots }: Extract<Step, { kind: 'take-back' }>,
  scene: Scene,
): Promise<Outcome> {
  const { database, deps, everybody } = scene
  const heir = await deps.engines.connect(database, member(shard, { members: everybody }))
  const [clock, nodes] = await Promise.all([readClock(heir), heir.call('CLUSTER', 'NODES')])
  const view = readClusterNodes(String(nodes))
  const own = view.find(({ myself }) => myself)
  const thief = view.find(({ id }) => id === own?.primary)
  if (own === undefined || thief === undefined)
    return {
      kind: 'not yet',
      code: 'cluster_view',
      why: `shard ${shard} follows nobody that it knows any more`,
    }
  const until = performance.now() + ORDER_WITHIN_MS
  const order = slotsToTakeBack(view, own.id, slots)
  const isTaken = await deps.takeovers.order(heir, { clock, until }, deps.effect, order)
  if (!isTaken) return lateOrder(shard)
  await tellOfTakeBack({ shard, slots, thief }, scene)
  return { kind: 'done' }
}
