import type { ShardRecord } from '../../core/state/database.ts'
import { runsOf } from '../../core/state/goal.ts'
import { surgeBytes } from '../../core/state/surge-bytes.ts'
import type { Step } from '../../core/state/topology.ts'
import { shardsStore } from '../../databases/shards-store.ts'
import { agentName } from '../../nodes/agent-name.ts'
import { whyStillRead } from '../clients/endpoints.ts'
import { setLimits } from '../shards/keep-limits.ts'
import { asTheyRun, findPorts, getsTls, recordRuns } from '../shards/ports-of-shard.ts'
import { raiseBacklog } from '../shards/raise-backlog.ts'
import { shardCertificate } from '../shards/shard-certificates.ts'
import type { Outcome } from '../turn/outcome.ts'
import { member, type Scene } from '../turn/scene.ts'
import { wishFor } from '../turn/wish.ts'
import { forgetFollower } from './carry-out-cluster.ts'
import { writeAnew } from './write-anew.ts'

/** The one node there is. */
const THIS_NODE = { uid: 1, host: '127.0.0.1' }

/** A new shard: on record first, so that whatever is started is known to somebody. */
export async function addShard(step: Extract<Step, { kind: 'add-shard' }>, scene: Scene): Promise<Outcome> {
  const { database, group, seen, deps, members } = scene
  const unproven = await deps.trials.whyUnproven(database, step.runs)
  if (unproven !== undefined) return { kind: 'hopeless', ...unproven }
  // A primary alone is restarted by its agent; with a replica that would be dangerous, so that ends before there is one.
  const alone = members.length === 1 ? members.find(({ id }) => id === step.follow) : undefined
  if (alone !== undefined) await put(alone, [alone, { ...alone, id: 0 }], scene)
  // From now on its primary keeps a backlog, which is not the clients'.
  const primary = members.find(({ id }) => id === step.follow)
  if (primary !== undefined) await setLimits(await deps.engines.connect(database, primary), seen.limits, deps)
  const isTls = await getsTls(step.runs, scene)
  const shard = await deps.inTurn(async () => {
    const row = {
      databaseUid: database.uid,
      group,
      reservedBytes: step.follow === null ? 0 : surgeBytes(seen),
      nodeUid: THIS_NODE.uid,
      host: THIS_NODE.host,
      ...(await findPorts(isTls, scene)),
      runs: runsOf(step.runs),
      follows: step.follow,
    }
    return deps.effect('record-shard', () =>
      deps.store.transaction((db) => shardsStore(db).insert(row, new Date(deps.now()).toISOString())),
    )
  })
  await put(shard, [...members, shard], scene)
  return done
}

/**
 * The wish as it is on record, put again: for a process that is not there, or not the one that was asked for. The agent
 * first: killed in between, the record would say that all is well, and nobody would start it.
 */
export async function startShard(
  step: Extract<Step, { kind: 'start-shard' }>,
  scene: Scene,
): Promise<Outcome> {
  const shard = { ...member(step.shard, scene), follows: step.follow }
  await put(shard, scene.members, scene)
  await scene.deps.effect('record-follows', () => scene.deps.shards.setFollows(shard.id, step.follow))
  return done
}

/** On record first: a crash in between leaves a process that is not the one asked for, which the planner sees. */
export async function restartShard(
  step: Extract<Step, { kind: 'restart-shard' }>,
  scene: Scene,
): Promise<Outcome> {
  const { database, deps } = scene
  const runs = runsOf(step.runs)
  const unproven = await deps.trials.whyUnproven(database, runs)
  if (unproven !== undefined) return { kind: 'hopeless', ...unproven }
  const before = member(step.shard, scene)
  const readers = await whyStillRead(database, before, deps)
  if (readers !== undefined) return { kind: 'not yet', ...readers }
  const primary = await deps.engines.connect(database, member(step.follow, scene))
  await raiseBacklog(primary, scene.seen.limits, deps, scene.signal)
  const shard = await recordRuns(before, { runs, follows: step.follow }, scene)
  await put(shard, scene.members, scene)
  return done
}

/** A primary that nobody can stand in for: it saves its data, and its next process loads them. */
export async function restartPrimary(
  step: Extract<Step, { kind: 'restart-primary' }>,
  scene: Scene,
): Promise<Outcome> {
  const { database, deps } = scene
  const runs = runsOf(step.runs)
  const unproven = await deps.trials.whyUnproven(database, runs, 'alone')
  if (unproven !== undefined) return { kind: 'hopeless', ...unproven }
  const unwritten = await whyUnwritten(step.shard, scene)
  if (unwritten !== undefined) return unwritten
  const shard = await recordRuns(member(step.shard, scene), { runs }, scene)
  await put({ ...shard, follows: null }, scene.members, scene)
  return done
}

/** A snapshot is written when it ends. Undefined also where its process has ended already. */
async function whyUnwritten(
  id: number,
  { database, members, seen, deps }: Scene,
): Promise<Outcome | undefined> {
  const engine = seen.shards.find((shard) => shard.id === id)?.engine ?? null
  if (database.persistence !== 'aof' || engine === null) return undefined
  const what = `file of ${database.uid}:${id}, process ${engine.runId}`
  const written = deps.preparations.ask({ databaseUid: database.uid, what }, async (signal) =>
    writeAnew(await deps.engines.connect(database, member(id, { members })), id, signal),
  )
  if (written === 'ready') return undefined
  if (written.kind !== 'pending') return written
  const why = `shard ${id} writes its append-only file anew before it restarts`
  return { kind: 'not yet', code: 'saving', why }
}

/**
 * The intent first and the record last: a shard that is on record may still run, and one that leaves stays gone. Its record goes
 * when a look has found that its agent knows nothing of it any more.
 */
export async function retireShard(
  step: Extract<Step, { kind: 'retire-shard' }>,
  scene: Scene,
): Promise<Outcome> {
  const { database, deps, members, seen } = scene
  const shard = member(step.shard, scene)
  if (!shard.leaving) {
    const readers = await whyStillRead(database, shard, deps)
    if (readers !== undefined) return { kind: 'not yet', ...readers }
    await deps.effect('record-leaving', () => deps.shards.setLeaving(step.shard))
  } else if (seen.shards.find(({ id }) => id === step.shard)?.process === 'absent') {
    await deps.effect('forget-shard', () => deps.shards.remove(step.shard))
    const [last, ...others] = members.filter(({ id }) => id !== step.shard)
    if (last !== undefined && others.length === 0) await put(last, [last], scene)
    return done
  }
  if (database.cluster) await forgetFollower(step.shard, scene)
  deps.engines.forget(step.shard)
  const params = { id: agentName(step.shard) }
  await deps.effect('remove-shard', () => deps.agent.removeShard({ params }))
  return { kind: 'not yet', code: 'shard_stopping', why: `shard ${step.shard} is being stopped` }
}

/** An order to the agent, which looks once more: it is void as soon as the process answers. The next look finds it gone, or not. */
export async function endProcess(
  step: Extract<Step, { kind: 'end-process' }>,
  { deps, signal }: Scene,
): Promise<Outcome> {
  const params = { id: agentName(step.shard) }
  const body = { startedAt: step.startedAt }
  await deps.effect('end-process', () => deps.agent.endShardProcess({ params, body }, { signal }))
  return {
    kind: 'not yet',
    code: 'shard_hung',
    why: `the process of shard ${step.shard} hangs and is being ended`,
    afterMs: ENDS_MS,
  }
}

/** An agent looks at a silent process about once a second. */
const ENDS_MS = 250

/** The agent first: the record is what the planner reads, and must not run ahead of what the agent holds. */
export async function recordWish(
  step: Extract<Step, { kind: 'record-wish' }>,
  scene: Scene,
): Promise<Outcome> {
  const shard = { ...member(step.shard, scene), follows: step.follow }
  await put(shard, scene.members, scene)
  await scene.deps.effect('record-follows', () => scene.deps.shards.setFollows(shard.id, step.follow))
  return done
}

const done: Outcome = { kind: 'done' }

async function put(
  shard: ShardRecord,
  members: readonly ShardRecord[],
  { database, seen, deps, signal }: Scene,
): Promise<void> {
  const body = wishFor(shard, database, asTheyRun(members, seen), await shardCertificate(shard, deps))
  await deps.trials.deliver(shard.runs, signal)
  await deps.effect('put-shard', () =>
    deps.agent.putShard({ params: { id: agentName(shard.id) }, body }, { signal }),
  )
}
