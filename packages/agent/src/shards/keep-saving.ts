import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ShardSaving, ShardSpec } from '@fairlead/api'
import { type InfoFields, readInfo } from '@fairlead/engine'
import { savePoints } from '../engine/engine-config.ts'
import { traceOfSnapshot, tracesOnDisk } from '../folder/read-data-on-disk.ts'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import { removeTree } from '../process/remove-tree.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

type Place = Pick<ShardWorkplace, 'folder' | 'probe' | 'save' | 'ordered'>

/** Picks how a shard saves its data. */
export function savingOf({ persistence, aofFsync, snapshots }: ShardSpec): ShardSaving {
  return { persistence, aofFsync, snapshots }
}

/**
 * Makes a running process save its data as wanted. The former way ends, and its files are removed, when those
 * of the new one are whole: until then it is called again. Throws EngineError and EngineUnreachable.
 */
export async function keepSaving(place: Place, wanted: ShardSpec, last: ProcessRecord | null): Promise<void> {
  if (last === null || last.ended || last.answeredAt === null) return
  const saving = savingOf(wanted)
  if (last.changesSaving !== true) {
    if (isDeepStrictEqual(saving, savingOf(last.spec))) return
    // Recorded first: a change that is taken back has left its traces.
    await place.save({ ...last, changesSaving: true })
  }
  const isAof = saving.persistence === 'aof'
  if (!isAof) await place.probe.call('CONFIG', 'SET', 'save', savePoints(saving))
  const engine = readInfo(String(await place.probe.call('INFO', 'persistence')))
  const isWhole = isAof ? hasWholeFile(engine) : await hasSnapshot(place, saving, last, engine)
  if (!isWhole) return
  if (isAof) await place.probe.call('CONFIG', 'SET', 'save', '')
  // An engine that has to sync each write ends if it cannot: so only with a whole file.
  await place.probe.call('CONFIG', 'SET', 'appendfsync', saving.aofFsync)
  const ended = await endFormerWay(place, saving)
  const { changesSaving: _over, ...record } = last
  await place.save({ ...record, ...ended, spec: { ...last.spec, ...saving } })
}

/** A failed rewrite leaves it enabled, and the engine tries again. */
function hasWholeFile(engine: InfoFields): boolean {
  const isOn = (name: string) => engine[name] === '1'
  if (!isOn('aof_enabled') || isOn('aof_rewrite_in_progress') || isOn('aof_rewrite_scheduled')) return false
  return engine['aof_last_bgrewrite_status'] === 'ok'
}

/** A snapshot that failed, as on a full disk, costs a fork each time. */
const ORDER_EVERY_MS = 10_000

/**
 * Orders a snapshot, unless none is needed, and returns whether it is there. One that is being written ends
 * first: it would come back after its removal.
 */
async function hasSnapshot(
  place: Place,
  { persistence }: ShardSaving,
  { startedAt, spec }: ProcessRecord,
  engine: InfoFields,
): Promise<boolean> {
  const isWriting = engine['rdb_bgsave_in_progress'] === '1'
  if (persistence === 'disabled' || spec.persistence === 'snapshot') return !isWriting
  const trace = await traceOfSnapshot(place.folder.data)
  const ordered = place.ordered?.startedAt === startedAt ? place.ordered : null
  if (ordered !== null && trace !== null && trace !== ordered.before) return true
  const isLate = ordered === null || performance.now() - ordered.at > ORDER_EVERY_MS
  if (!isLate || isWriting) return false
  await place.probe.call('BGSAVE', 'SCHEDULE')
  place.ordered = { startedAt, before: ordered?.before ?? trace, at: performance.now() }
  return false
}

/** Switches the other way off, and removes files that the next process must not load. */
async function endFormerWay(place: Place, { persistence }: ShardSaving): Promise<Partial<ProcessRecord>> {
  const { data } = place.folder
  if (persistence === 'aof') {
    await removeTree(join(data, 'dump.rdb'))
    return {}
  }
  await place.probe.call('CONFIG', 'SET', 'appendonly', 'no')
  const outdated = ['appendonlydir', 'appendonly.aof', ...(persistence === 'disabled' ? ['dump.rdb'] : [])]
  for (const name of outdated) await removeTree(join(data, name))
  return { appendonly: false, aofFrom: Date.now(), found: await tracesOnDisk(data) }
}
