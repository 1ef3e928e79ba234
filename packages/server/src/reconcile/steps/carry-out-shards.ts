import type { Encodings, Seed } from '@fairlead/api'
import type { EffectRunner } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { runsOf } from '../../core/state/goal.ts'
import { surgeBytes } from '../../core/state/surge-bytes.ts'
import { isLive, type Step } from '../../core/state/topology.ts'
import { isDeclined } from '../../nodes/agent-link.ts'
import { agentName } from '../../nodes/agent-name.ts'
import { readEncodings } from '../carry-over/read-encodings.ts'
import { whyStillRead } from '../clients/why-still-read.ts'
import { setLimits } from '../shards/keep-limits.ts'
import {
  asTheyRun,
  findPorts,
  getsTls,
  type PlacingPorts,
  recordRuns,
  type TlsPorts,
} from '../shards/ports-of-shard.ts'
import { raiseBacklog } from '../shards/raise-backlog.ts'
import { shardCertificate } from '../shards/shard-certificates.ts'
import type { Outcome } from '../turn/outcome.ts'
import type {
  ActionRecords,
  Certifying,
  Clock,
  EndpointProxy,
  EngineConnections,
  NodeAgent,
  PassingTime,
  Preparing,
  ShardRecords,
  Trying,
} from '../turn/ports.ts'
import { shardSpec } from '../turn/shard-spec.ts'
import { member, type StepContext } from '../turn/step-context.ts'
import { forgetFollower } from './carry-out-cluster.ts'
import { type GivingUpPorts, whyKept } from './give-up-standby.ts'
import { rewriteFiles } from './rewrite-files.ts'

/** Ports for adding, starting, restarting and retiring shards. */
export type ShardPorts = NodeAgent<'putShard' | 'readBaseline' | 'removeShard' | 'endShardProcess'> &
  EngineConnections<'connect' | 'tryOn' | 'forget'> &
  EndpointProxy<'reportProxy'> &
  ShardRecords<'insert' | 'setNext' | 'setFollows' | 'setLeaving' | 'remove'> &
  PlacingPorts &
  TlsPorts &
  Trying<'whyUnproven' | 'deliver'> &
  GivingUpPorts &
  ActionRecords &
  Certifying<'shards'> &
  Preparing &
  EffectRunner &
  PassingTime &
  Clock
type ShardContext = StepContext<ShardPorts>

/** The only node. */
const THIS_NODE = { uid: 1, host: '127.0.0.1' }

/**
 * Adds a shard. It is recorded first, so that no process starts without a record. A shard of another database
 * with its number on the node stays unchanged.
 */
export async function addShard(
  step: Extract<Step, { kind: 'add-shard' }>,
  context: ShardContext,
): Promise<Outcome> {
  const { database, group, seen, ports, members } = context
  const unproven = await ports.trials.whyUnproven(database, step.runs)
  if (unproven !== undefined) return { kind: 'hopeless', ...unproven }
  // An agent restarts a single primary. With a replica that would be dangerous, so it is disabled before.
  const alone = members.length === 1 ? members.find(({ id }) => id === step.follow) : undefined
  if (alone !== undefined) await put(alone, [alone, { ...alone, id: 0 }], context)
  // From now on its primary keeps a backlog, whose memory is not the clients'.
  const primary = members.find(({ id }) => id === step.follow)
  if (primary !== undefined)
    await setLimits(await ports.engines.connect(database, primary), seen.limits, ports)
  const isTls = await getsTls(step.runs, context)
  const shard = await ports.runExclusive(async () => {
    const row = {
      databaseUid: database.uid,
      group,
      reservedBytes: step.follow === null ? 0 : surgeBytes(seen),
      nodeUid: THIS_NODE.uid,
      host: THIS_NODE.host,
      ...(await findPorts(isTls, context)),
      runs: runsOf(step.runs),
      follows: step.follow,
    }
    return ports.effect('record-shard', () => ports.shards.insert(row, new Date(ports.now()).toISOString()))
  })
  try {
    await put(shard, [...members, shard], context)
  } catch (cause) {
    if (!isDeclined(cause) || cause.code !== 'shard_of_another') throw cause
    await ports.effect('remove-record', () => ports.shards.remove(shard.id))
    return {
      kind: 'not yet',
      code: 'shard_of_another',
      why: `on the node, number ${shard.id} belongs to a shard of another database that is not on record: the next number is tried`,
    }
  }
  return done
}

/**
 * Sends the recorded spec again, for a missing or wrong process. The agent comes before the record: otherwise
 * a crash in between would leave a correct record without a process.
 */
export async function startShard(
  step: Extract<Step, { kind: 'start-shard' }>,
  context: ShardContext,
): Promise<Outcome> {
  const shard = { ...member(step.shard, context), follows: step.follow }
  await put(shard, context.members, context)
  await context.ports.effect('record-follows', () => context.ports.shards.setFollows(shard.id, step.follow))
  return done
}

/** Restarts a shard. The record comes first: after a crash in between, the next turn corrects the process. */
export async function restartShard(
  step: Extract<Step, { kind: 'restart-shard' }>,
  context: ShardContext,
): Promise<Outcome> {
  const { database, ports } = context
  const runs = runsOf(step.runs)
  const unproven = await ports.trials.whyUnproven(database, runs)
  if (unproven !== undefined) return { kind: 'hopeless', ...unproven }
  const before = member(step.shard, context)
  const readers = await whyStillRead(database, before, ports)
  if (readers !== undefined) return { kind: 'not yet', ...readers }
  const primary = await ports.engines.connect(database, member(step.follow, context))
  await raiseBacklog(primary, context.seen.limits, ports, context.signal)
  const kept = await whyKept(step, context)
  if (kept !== undefined) return kept
  const shard = await recordRuns(before, { runs, follows: step.follow }, context)
  await put(shard, context.members, context)
  return done
}

/** Restarts a primary that no shard can replace: it saves its data, and its next process loads them. */
export async function restartPrimary(
  step: Extract<Step, { kind: 'restart-primary' }>,
  context: ShardContext,
): Promise<Outcome> {
  const { database, ports } = context
  const runs = runsOf(step.runs)
  const unproven = await ports.trials.whyUnproven(database, runs, 'alone')
  if (unproven !== undefined) return { kind: 'hopeless', ...unproven }
  const unwritten = await whyUnwritten(step.shard, context)
  if (unwritten !== undefined) return unwritten
  const shard = await recordRuns(member(step.shard, context), { runs }, context)
  await put({ ...shard, follows: null }, context.members, context)
  return done
}

/** Checks that the append-only file is rewritten; a snapshot is written at the end. Undefined if ended. */
async function whyUnwritten(
  id: number,
  { database, members, seen, ports }: ShardContext,
): Promise<Outcome | undefined> {
  const engine = seen.shards.find((shard) => shard.id === id)?.engine ?? null
  if (database.persistence !== 'aof' || engine === null) return undefined
  const what = `file of ${database.uid}:${id}, process ${engine.runId}`
  const written = ports.preparations.ask({ databaseUid: database.uid, what }, async (signal) =>
    rewriteFiles(await ports.engines.connect(database, member(id, { members })), id, ports, signal),
  )
  if (written === 'ready') return undefined
  if (written.kind !== 'pending') return written
  const why = `shard ${id} rewrites its append-only file before it restarts`
  return { kind: 'not yet', code: 'saving', why }
}

/**
 * Retires a shard: records the intent first and removes the record last, when the agent no longer knows the
 * shard. A recorded shard may still run, and a leaving one does not come back. In cluster mode the agent gets
 * the order before the others forget the shard: until then it may have to take over, and a forgotten shard
 * can rejoin only after a minute.
 */
export async function retireShard(
  step: Extract<Step, { kind: 'retire-shard' }>,
  context: ShardContext,
): Promise<Outcome> {
  const { database, ports, members, seen, action } = context
  const shard = member(step.shard, context)
  if (!shard.leaving) {
    const readers = await whyStillRead(database, shard, ports)
    if (readers !== undefined) return { kind: 'not yet', ...readers }
    const kept = await whyKept(step, context)
    if (kept !== undefined) return kept
    if (step.warns && action !== undefined)
      await ports.actions.warn(
        action.uid,
        `shard ${step.shard} is given up: ${step.why}`,
        new Date(ports.now()).toISOString(),
      )
    await ports.effect('record-leaving', () => ports.shards.setLeaving(step.shard, true))
  } else if (seen.shards.find(({ id }) => id === step.shard)?.process === 'absent') {
    await ports.effect('forget-shard', () => ports.shards.remove(step.shard))
    const [last, ...others] = members.filter(({ id }) => id !== step.shard)
    if (last !== undefined && others.length === 0) await put(last, [last], context)
    return done
  }
  ports.engines.forget(step.shard)
  const params = { id: agentName(step.shard) }
  await ports.effect('remove-shard', () => ports.agent.removeShard({ params }))
  if (database.cluster) await forgetFollower(step.shard, context)
  return { kind: 'not yet', code: 'shard_stopping', why: `shard ${step.shard} is being stopped` }
}

/**
 * Orders the agent to end a hung process. The agent checks again: the order is void once the process answers.
 * The next look shows the result.
 */
export async function endProcess(
  step: Extract<Step, { kind: 'end-process' }>,
  { ports, signal }: ShardContext,
): Promise<Outcome> {
  const params = { id: agentName(step.shard) }
  const body = { startedAt: step.startedAt }
  await ports.effect('end-process', () => ports.agent.endShardProcess({ params, body }, { signal }))
  return {
    kind: 'not yet',
    code: 'shard_hung',
    why: `the process of shard ${step.shard} hangs and is being ended`,
    afterMs: ENDS_MS,
  }
}

/** An agent checks a silent process about once a second. */
const ENDS_MS = 250

/** Records the primary to follow. The agent comes first: the plan reads the record, which must lag. */
export async function recordFollows(
  step: Extract<Step, { kind: 'record-follows' }>,
  context: ShardContext,
): Promise<Outcome> {
  const shard = { ...member(step.shard, context), follows: step.follow }
  await put(shard, context.members, context)
  await context.ports.effect('record-follows', () => context.ports.shards.setFollows(shard.id, step.follow))
  return done
}

const done: Outcome = { kind: 'done' }

async function put(
  shard: ShardRecord,
  members: readonly ShardRecord[],
  context: ShardContext,
): Promise<void> {
  const { database, seen, ports, signal } = context
  const certificate = await shardCertificate(shard, ports)
  const encodings = await encodingsFor(shard, members, context)
  const spec = shardSpec(shard, database, asTheyRun(members, seen), certificate, encodings)
  const seed = seedOf(shard, context)
  const body = seed === undefined ? spec : { ...spec, seed }
  await ports.trials.deliver(shard.runs, signal)
  await ports.effect('put-shard', () =>
    ports.agent.putShard({ params: { id: agentName(shard.id) }, body }, { signal }),
  )
}

/** Returns the data of a group's first shard. Once that has served, they are its own. */
function seedOf({ follows }: ShardRecord, { action, group, seen }: ShardContext): Seed | undefined {
  if (follows !== null || seen.recordedPrimary !== null) return undefined
  return action?.goal.seeds?.find((seed) => seed.group === group)
}

/** Reads the limits of compact encodings from its primary, or from its process if it has none. */
async function encodingsFor(
  shard: ShardRecord,
  members: readonly ShardRecord[],
  { database, seen, ports }: ShardContext,
): Promise<Encodings | undefined> {
  const source = members.find(({ id }) => id === (shard.follows ?? shard.id))
  const isUp = seen.shards.some((one) => one.id === source?.id && isLive(one))
  if (source === undefined || !isUp) return undefined
  const { settings } = await ports.agent.readBaseline({ params: { id: agentName(source.id) } })
  return readEncodings(() => ports.engines.connect(database, source), settings)
}
