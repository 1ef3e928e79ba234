import { join } from 'node:path'
import type { DiskReport } from '@fairlead/api'
import { readPlainFile, statPlainFile } from '../process/open-plain-file.ts'
import { MAX_NODES_BYTES } from './mend-cluster-nodes.ts'
import { readDataOnDisk } from './read-data-on-disk.ts'
import { readSnapshotHead, type SnapshotHead } from './read-snapshot-head.ts'
import type { ProcessRecord } from './shard-folder.ts'

/** Contents of a shard's data folder at the last look. */
export interface DiskWatch {
  /** Looks, and stores the result for `last`; `process` is the last process of the shard. */
  look(process: ProcessRecord | null): Promise<void>
  /** Null before the first look, and if the disk is unreadable. */
  last(): DiskReport | null
}

/** Reads from the files what the next process would load: the server compares the disks of a group. */
export function watchDisk(data: string): DiskWatch {
  let found: DiskReport | null = null
  let head: (SnapshotHead & { readonly of: string }) | null = null
  const readSnapshot = async (): Promise<DiskReport['snapshot']> => {
    const path = join(data, 'dump.rdb')
    const file = statPlainFile(path)
    if (file === null || file.size === 0) return null
    // A snapshot is never changed, but replaced by the next one.
    const of = `${file.ino} ${file.mtimeMs} ${file.size}`
    if (head?.of !== of) head = { ...(await readSnapshotHead(path)), of }
    return { at: Math.round(file.mtimeMs), replid: head.replid, offset: head.offset }
  }
  return {
    look: async (process) => {
      // An unreadable disk is not an empty disk: its contents are unknown.
      found = await look(process).catch(() => null)
    },
    last: () => found,
  }

  async function look(process: ProcessRecord | null): Promise<DiskReport> {
    const lookedAt = Date.now()
    const { aof, aofComplete } = await readDataOnDisk(data, process)
    const snapshot = await readSnapshot()
    const claim = process?.spec.cluster === true ? await readClaim(data) : null
    return { lookedAt, snapshot, aof: aof ? (aofComplete ? 'whole' : 'older') : 'none', claim }
  }
}

/** Returns the epoch with which nodes.conf claims slots, written before engines announce it. Null: none. */
async function readClaim(data: string): Promise<number | null> {
  const text = await readPlainFile(join(data, 'nodes.conf'), MAX_NODES_BYTES).catch(() => '') // it never ran
  return parseClaim(text)
}

/** One line per node: id, address, flags, primary, ping, pong, epoch, link, slots … */
export function parseClaim(nodesConf: string): number | null {
  const own = nodesConf
    .split('\n')
    .map((line) => line.split(' '))
    .find((words) => words[2]?.split(',').includes('myself'))
  if (own === undefined || !own[2]?.split(',').includes('master')) return null
  return own.slice(8).some((range) => /^\d/.test(range)) ? Number(own[6]) : null
}
