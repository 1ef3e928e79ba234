import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Seed, ShardSpec } from '@fairlead/api'
import { messageOf, readListeners } from '@fairlead/engine'
import { findProgram } from '../builds/builds-of-node.ts'
import { countData, describeMissing } from '../engine/count-data.ts'
import { engineTarget, portsOf } from '../engine/engine-config.ts'
import { placeSnapshot, writeOwnSlots } from '../engine/place-snapshot.ts'
import { describeEnd, prepareFolder, startProcess } from '../engine/start-process.ts'
import { stopProcess, waitForEnd } from '../engine/stop-process.ts'
import { decideAppendonly } from '../folder/decide-appendonly.ts'
import {
  readDataOnDisk,
  snapshotWrittenAt,
  traceOfSnapshot,
  tracesOnDisk,
} from '../folder/read-data-on-disk.ts'
import { readLastWords, saysPortTaken, secretsOf } from '../folder/read-last-words.ts'
import { readSettings } from '../folder/read-settings.ts'
import { recordStop } from '../folder/record-stop.ts'
import type { ProcessRecord, ShardFolder, WantedRecord } from '../folder/shard-folder.ts'
import { nextStreak } from '../process/decide-restart.ts'
import { type ProcessIdentity, signalProcess } from '../process/process-identity.ts'
import { atStart } from './keep-users.ts'
import { ranOutside } from './ran-outside.ts'
import { whatIsLost } from './see-silence.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

/** Result of an act: why the engine refused to stop. The next look shows everything else. */
export interface ActResult {
  readonly refused?: string
}

/** Starts a process for the wanted spec. A failure is recorded as the end of that process. */
export async function start(place: ShardWorkplace, wanted: WantedRecord, last: ProcessRecord | null) {
  const { folder } = place
  const { order } = wanted
  const spec = atStart(wanted.spec, last)
  place.probe.forget()
  place.activity.forget()
  place.killedBecause = null
  // Until a process has answered with the data, the next one must load them, too.
  const seed = last === null ? spec.seed : last.seed
  const misplaced = last === null && seed !== undefined ? await placeSeed(place, spec, seed) : undefined
  const disk = await readDataOnDisk(folder.data, last)
  const appendonly = decideAppendonly(spec, disk)
  const logFrom = await prepareFolder(folder, spec, appendonly.atStart)
  const startedAt = Date.now()
  const outside = ranOutside(last, spec)
  const record: ProcessRecord = {
    order,
    spec,
    logFrom,
    ...historyOf(last, order),
    identity: null,
    startedAt,
    answeredAt: null,
    stoppingAt: null,
    ended: null,
    appendonly: appendonly.atStart,
    appendonlyLater: appendonly.later,
    aofFrom: startedAt,
    found: await tracesOnDisk(folder.data),
    before: {
      aofComplete: disk.aofComplete,
      stoppedCleanly: disk.stoppedCleanly,
      died: last !== null && !disk.stoppedCleanly && (last.answeredAt !== null || last.before.died === true),
    },
    ...(outside && { ranOutside: true }),
    ...(seed && { seed }),
  }
  if (misplaced !== undefined) {
    await place.save(asDied(record, misplaced))
    return
  }
  // Recorded before its start: after a crash, the next agent searches for it by its folder.
  await place.save(record)
  try {
    await place.modules.verify(spec.modules)
  } catch (cause) {
    // It is not retried automatically, whatever ran before, because only the server has the file.
    await place.save({ ...asDied(record, messageOf(cause)), proven: false })
    return
  }
  const started = await launch(place, record).catch((cause: unknown) => asDied(record, messageOf(cause)))
  await place.save(started)
}

/** Places the data of a shard's first process. Returns the reason if they cannot be used. */
async function placeSeed(
  { folder, signal }: ShardWorkplace,
  spec: ShardSpec,
  seed: Seed,
): Promise<string | undefined> {
  await folder.create()
  try {
    await placeSnapshot({ path: folder.backupPath(seed), sha256: seed.sha256 }, folder, signal)
  } catch (cause) {
    signal.throwIfAborted()
    return `backup ${seed.backup}, group ${seed.group}: ${messageOf(cause)}`
  }
  if (spec.cluster) await writeOwnSlots(spec, seed, folder)
  return undefined
}

/** Returns the record of the started process. */
async function launch(place: ShardWorkplace, record: ProcessRecord): Promise<ProcessRecord> {
  const { build, modules } = record.spec
  const program = await findProgram(place.builds, build)
  const engine = { program, modules, ranOutside: record.ranOutside === true }
  const child = await startProcess(place.folder, engine, place.wall)
  place.child = child
  return { ...record, identity: child.identity, ...(child.within && { within: true }) }
}

/** Returns the history of processes of the same order; another order begins anew. */
function historyOf(last: ProcessRecord | null, order: number) {
  if (last === null || last.order !== order) return { proven: false, crashes: 0, streak: 0 }
  const { proven, crashes, streak, unanswered } = last
  return { proven, crashes, streak, ...(unanswered && { unanswered }) }
}

/** Records a process's first answer and its settings, and sets what had to wait for its data. */
export async function markReady(place: ShardWorkplace, last: ProcessRecord): Promise<void> {
  const missing = last.seed && describeMissing(await countData(place.probe.call), last.seed.data)
  if (missing !== undefined && last.identity)
    return await kill(place, last.identity, `backup ${last.seed?.backup} is not loaded: ${missing}`)
  const answeredAt = Date.now()
  const later = last.appendonlyLater
  if (later !== null) await place.probe.call('CONFIG', 'SET', 'appendonly', later ? 'yes' : 'no')
  // Before its answer is recorded: a process that has answered has a baseline.
  const settings = readSettings(await place.probe.call('CONFIG', 'GET', '*'), last.spec)
  await place.folder.writeBaseline({ startedAt: last.startedAt, settings })
  // Of a database without persistence, files are outdated from the first write on.
  if (last.seed && last.spec.persistence === 'disabled')
    await rm(join(place.folder.data, 'dump.rdb'), { force: true })
  const { unanswered: _over, seed: _loaded, ...record } = last
  await place.save({
    ...record,
    answeredAt,
    proven: true,
    appendonlyLater: null,
    // From here on the AOF is outdated.
    ...(later === false && {
      appendonly: false,
      aofFrom: Date.now(),
      found: await tracesOnDisk(place.folder.data),
    }),
  })
}

/** Asks the process to stop, saving its data or not. If it cannot save, it is ended only without loss. */
export async function stop(
  place: ShardWorkplace,
  { spec }: WantedRecord,
  last: ProcessRecord,
  save: boolean,
): Promise<ActResult> {
  const { folder, signal, silence } = place
  if (!last.identity) return {}
  const record = await recordStop(folder, last, last.identity, place.save)
  const result = await stopProcess({
    identity: last.identity,
    target: engineTarget(last.spec),
    save,
    data: folder.data,
    // Without a save, nothing can take long.
    stopWithinMs: save ? place.stopWithinMs : Math.min(place.stopWithinMs, 5_000),
    hungAfterMs: save ? silence.hungAfterMs : Math.min(silence.hungAfterMs, 1_000),
    mayForce: !save || (await whatIsLost(last, spec, folder, silence.serves)) === 'nothing',
    signal,
  })
  if (result.kind === 'gone') {
    place.killedBecause = result.forced
    return {}
  }
  await place.save({ ...record, stoppingAt: null })
  const words = await lastWords(folder, last)
  return { refused: words === '' ? result.why : `${result.why} (${words})` }
}

/** Ends a process that does not answer. */
export async function kill(place: ShardWorkplace, identity: ProcessIdentity, why: string): Promise<void> {
  place.killedBecause = why
  signalProcess(identity, 'SIGKILL')
  await waitForEnd(identity, 2_000, place.signal)
}

/**
 * Records how the process ended: as requested, with its data saved, or otherwise. One that an earlier agent
 * started and that never answered may have died with that agent: that is no failure, and it is restarted.
 */
export async function recordExit(
  place: ShardWorkplace,
  wanted: WantedRecord,
  last: ProcessRecord,
): Promise<void> {
  place.probe.forget()
  if (place.child === null && last.answeredAt === null && last.stoppingAt === null) {
    await place.save({ ...last, identity: null })
    return
  }
  if (await hasStoppedCleanly(place.folder, last)) {
    await place.save({ ...last, ended: { at: Date.now(), how: 'stopped', why: 'was stopped' } })
    return
  }
  const end = place.killedBecause ?? (await describeEnd(place.child, last.identity))
  const words = await lastWords(place.folder, last)
  const portTaken = saysPortTaken(words)
  const holders = portTaken ? await describePortHolders(last.spec) : ''
  const died = asDied(last, words === '' ? end : `${end}: ${words}${holders}`, portTaken)
  // The order ends with the process: its data may be lost, so the server must request its start again.
  const orderDied = wanted.spec.onCrash === 'wait' && last.answeredAt !== null
  await place.save(orderDied ? { ...died, order: wanted.order } : died)
}

/** Describes the users with processes at this shard's ports, as far as the kernel shows them. */
async function describePortHolders(spec: ProcessRecord['spec']): Promise<string> {
  const held = portsOf(spec).map(async (port) => {
    const [listener] = await readListeners({ host: spec.host, port }).catch(() => [])
    return listener === undefined ? '' : `; port ${port} is held by a process of user ${listener.uid}`
  })
  return (await Promise.all(held)).join('')
}

/** True if it ended on request with all its data on disk, or never accepted a write. */
export async function hasStoppedCleanly(folder: ShardFolder, last: ProcessRecord): Promise<boolean> {
  if (last.stoppingAt === null) return false
  if (last.answeredAt === null) return true
  const now = await traceOfSnapshot(folder.data)
  if (last.snapshotBefore !== undefined) return now !== null && now !== last.snapshotBefore
  // File times are up to one kernel tick behind the clock.
  return ((await snapshotWrittenAt(folder.data)) ?? 0) >= last.stoppingAt - 20
}

function asDied(record: ProcessRecord, why: string, portTaken = false): ProcessRecord {
  const at = Date.now()
  return {
    ...record,
    ended: { at, how: 'died', why, ...(portTaken && { portTaken }) },
    crashes: record.crashes + 1,
    streak: nextStreak(record, at),
    ...(record.answeredAt === null && { unanswered: { deaths: (record.unanswered?.deaths ?? 0) + 1, why } }),
  }
}

function lastWords(folder: ShardFolder, { logFrom, spec }: ProcessRecord): Promise<string> {
  return readLastWords(folder.log, logFrom, secretsOf(spec))
}
