import { readInfo } from '@fairlead/engine'
import { revisionOf } from '../../core/state/goal.ts'
import type { Step } from '../../core/state/topology.ts'
import { carryScripts } from '../carry-over/carry-scripts.ts'
import { handOver } from '../handover/hand-over.ts'
import { prepareToFollow, toFollow } from '../handover/prepare-to-follow.ts'
import { releaseHandover, sealHandover } from '../handover/seal-handover.ts'
import { fence } from '../handover/stop-writes.ts'
import { tellOfEmptyStart, tellOfPromotion } from '../records/tell-of-loss.ts'
import { keepAsleepIfItDies } from '../shards/keep-asleep-if-it-dies.ts'
import { ifItAnswers } from '../turn/engines.ts'
import { done, lateOrder, type Outcome } from '../turn/outcome.ts'
import { command, member, type Scene } from '../turn/scene.ts'
import { ORDER_WITHIN_MS, readClock } from '../turn/take-over.ts'
import { assignSlots, followInCluster, forgetNode, meetInCluster } from './carry-out-cluster.ts'
import {
  addShard,
  endProcess,
  recordWish,
  restartPrimary,
  restartShard,
  retireShard,
  startShard,
} from './carry-out-shards.ts'
import { takeBack } from './take-back.ts'

type Carrier<Kind extends Step['kind']> = (
  step: Extract<Step, { kind: Kind }>,
  scene: Scene,
) => Promise<Outcome>

/** The table of hands: one for each kind of step. Leaving one out is a type error. */
const carriers: { readonly [Kind in Step['kind']]: Carrier<Kind> } = {
  'add-shard': addShard,
  'start-shard': async (step, scene) => {
    await tellOfEmptyStart(step, scene)
    return startShard(step, scene)
  },
  'restart-shard': restartShard,
  'restart-primary': restartPrimary,
  'retire-shard': retireShard,
  'end-process': endProcess,
  'record-wish': recordWish,
  follow: async ({ shard, primary }, scene) =>
    scene.database.cluster ? followInCluster(shard, primary, scene) : followAlone(shard, primary, scene),
  promote: async (step, scene) => {
    const shard = member(step.shard, scene)
    const runs = scene.seen.shards.find(({ id }) => id === step.shard)?.revision
    // Another one is not promoted beside it while it may still carry out this order (may-serve.ts). Where there is no other, none is.
    const follows = scene.members.length > 1 ? null : shard.follows
    // A wish of another revision would restart the very process that is promoted.
    if (runs === revisionOf(shard.runs)) await keepAsleepIfItDies({ ...shard, follows }, scene)
    if (follows !== shard.follows)
      await scene.deps.effect('record-follows', () => scene.deps.shards.setFollows(shard.id, follows))
    noteOrder(step.shard, scene)
    const outcome = scene.database.cluster
      ? await takeOver(step.shard, scene)
      : await command(step.shard, scene, 'REPLICAOF', 'NO', 'ONE')
    if (outcome.kind === 'done') await tellOfPromotion(step.shard, scene)
    return outcome
  },
  'take-back': async (step, scene) => {
    noteOrder(step.shard, scene)
    return takeBack(step, scene)
  },
  fence: async ({ shards }, scene) => {
    for (const id of shards) {
      const shard = member(id, scene)
      await fence(await scene.deps.engines.connect(scene.database, shard), shard.runs.build, scene.deps)
    }
    return done
  },
  'enable-aof': async ({ shard }, scene) => command(shard, scene, 'CONFIG', 'SET', 'appendonly', 'yes'),
  'save-snapshot': async ({ shard }, scene) => saveSnapshot(shard, scene),
  meet: meetInCluster,
  'assign-slots': assignSlots,
  'forget-node': forgetNode,
  'hand-over': handOver,
  'release-handover': async (step, scene) => releaseHandover(step.primary, scene),
  'seal-handover': async (_, scene) => sealHandover(scene),
  'record-primary': async ({ shard }, scene) => {
    const { database, group, deps } = scene
    // Whatever made it primary: the endpoint is pointed by this record, and clients ask for their scripts by hash.
    await ifItAnswers(async () => {
      const to = await deps.engines.connect(database, member(shard, scene))
      await carryScripts(database, to, { all: true }, deps)
    })
    await deps.effect('record-primary', () => deps.databases.setPrimary(database.uid, group, shard))
    return done
  },
}

export function carryOut(step: Step, scene: Scene): Promise<Outcome> {
  // The table is keyed by the step's own kind, so this is the carrier for it.
  return (carriers[step.kind] as Carrier<Step['kind']>)(step, scene)
}

/** Told to serve outside of its handover, the heir of one that was interrupted may serve from here on. */
function noteOrder(shard: number, { database, group, seen, deps }: Scene): void {
  if (shard === seen.handover?.to) deps.ordersToServe.give({ databaseUid: database.uid, group })
}

async function followAlone(shard: number, primary: number, scene: Scene): Promise<Outcome> {
  const { database, members, deps } = scene
  const follower = await deps.engines.connect(database, member(shard, { members }))
  const { host, port } = await prepareToFollow(follower, toFollow(primary, scene), deps)
  return command(shard, scene, 'REPLICAOF', host, String(port))
}

/** Of a shard whose primary is gone. One that stalls and wakes up later has to be asked again: others may stand in by then. */
async function takeOver(shard: number, { database, members, deps }: Scene): Promise<Outcome> {
  const heir = await deps.engines.connect(database, member(shard, { members }))
  const clock = await readClock(heir)
  const until = performance.now() + ORDER_WITHIN_MS
  const isTaken = await deps.takeovers.order(heir, { clock, until }, deps.effect)
  return isTaken ? done : lateOrder(shard)
}

/** An engine refuses to write two at once: one that it has begun by itself is as good. */
async function saveSnapshot(shard: number, scene: Scene): Promise<Outcome> {
  const connection = await scene.deps.engines.connect(scene.database, member(shard, scene))
  const isWriting = async () =>
    readInfo(await connection.info('persistence'))['rdb_bgsave_in_progress'] === '1'
  if (await isWriting()) return done
  try {
    return await command(shard, scene, 'BGSAVE')
  } catch (cause) {
    if (await isWriting()) return done
    throw cause
  }
}
