import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShardSpec } from '@fairlead/api'
import { statPlainFile } from '../process/open-plain-file.ts'
import type { DataOnDisk } from './decide-appendonly.ts'
import type { ProcessRecord } from './shard-folder.ts'

/** Reads the data folder of a shard whose last process, if any, has ended. */
export async function readDataOnDisk(data: string, last: ProcessRecord | null): Promise<DataOnDisk> {
  const snapshotAt = await writtenAt(join(data, 'dump.rdb'))
  const aofAt = await aofWrittenAt(data)
  // Without a record, the younger file is the better guess.
  if (!last)
    return {
      snapshot: snapshotAt !== null,
      aof: aofAt !== null,
      aofComplete: aofAt !== null && aofAt >= (snapshotAt ?? 0),
      stoppedCleanly: false,
    }
  // A process that never answered has changed nothing.
  const untouched = last.answeredAt === null && !(await isNewSnapshot(data, last, snapshotAt))
  return {
    snapshot: snapshotAt !== null,
    aof: aofAt !== null,
    aofComplete:
      last.appendonly || (await isNewAof(data, last, aofAt)) || (untouched && last.before.aofComplete),
    stoppedCleanly: last.ended?.how === 'stopped' || (untouched && last.before.stoppedCleanly),
  }
}

/** Traces of the present files in the data folder: different for another file, null without one. */
export async function tracesOnDisk(data: string): Promise<NonNullable<ProcessRecord['found']>> {
  return { snapshot: await traceOfSnapshot(data), aof: await traceOfAof(data) }
}

async function isNewSnapshot(data: string, last: ProcessRecord, at: number | null): Promise<boolean> {
  if (last.found === undefined) return (at ?? 0) >= last.startedAt
  return at !== null && (await traceOfSnapshot(data)) !== last.found.snapshot
}

/** True if the AOF was rewritten since. Compares the file: after a clock change a new one may look older. */
async function isNewAof(data: string, last: ProcessRecord, at: number | null): Promise<boolean> {
  if (last.found === undefined) return (at ?? 0) >= last.aofFrom
  return at !== null && (await traceOfAof(data)) !== last.found.aof
}

/** True if the folder has files of its persistence. Files of a database without persistence are outdated. */
export async function hasDataOnDisk(data: string, persistence: ShardSpec['persistence']): Promise<boolean> {
  if (persistence === 'aof') return (await aofWrittenAt(data)) !== null
  return persistence === 'snapshot' && (await snapshotWrittenAt(data)) !== null
}

/** Returns the time of the snapshot (Unix ms); null if there is none. */
export async function snapshotWrittenAt(data: string): Promise<number | null> {
  return writtenAt(join(data, 'dump.rdb'))
}

/** Differs after each snapshot, whatever the clock; null if there is none. */
export async function traceOfSnapshot(data: string): Promise<string | null> {
  const trace = await traceOf(join(data, 'dump.rdb'))
  return trace === '' ? null : trace
}

/** Differs after any write in the folder: while it changes, the engine is busy saving. */
export async function traceOfWrites(data: string): Promise<string> {
  const names: string[] = []
  for await (const { name } of await opendir(data)) if (names.push(name) >= MOST_NAMES) break
  const traces = await Promise.all(names.toSorted().map((name) => traceOf(join(data, name))))
  return traces.join()
}

/** Engines have five or six. A module could make millions. */
const MOST_NAMES = 1_000

async function traceOf(path: string): Promise<string> {
  const file = statPlainFile(path)
  return file === null ? '' : `${file.ino}:${file.size}:${file.mtimeMs}`
}

/**
 * Returns the time of the AOF's base. Its manifest changes when a rewrite completes, also after switching the
 * AOF on, but not with every write. Before Redis 7 the AOF is one file.
 */
async function aofWrittenAt(data: string): Promise<number | null> {
  const [manifest, single] = aofFiles(data)
  return (await writtenAt(manifest)) ?? (await writtenAt(single))
}

async function traceOfAof(data: string): Promise<string | null> {
  const [manifest, single] = aofFiles(data)
  return (await traceOf(manifest)) || (await traceOf(single)) || null
}

function aofFiles(data: string): readonly [manifest: string, single: string] {
  return [join(data, 'appendonlydir', 'appendonly.aof.manifest'), join(data, 'appendonly.aof')]
}

async function writtenAt(path: string): Promise<number | null> {
  const file = statPlainFile(path)
  return file === null || file.size === 0 ? null : file.mtimeMs
}
