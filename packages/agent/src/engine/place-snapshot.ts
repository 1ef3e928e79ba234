import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Seed, ShardSpec } from '@fairlead/api'
import type { ShardFolder } from '../folder/shard-folder.ts'
import { writeDurably } from '../process/durable-file.ts'
import { openPlainFile } from '../process/open-plain-file.ts'
import { BUS_DISTANCE } from './engine-config.ts'

/** A file of a backup. */
export interface SnapshotFile {
  readonly path: string
  readonly sha256: string
}

/**
 * Copies a file of a backup to the data folder, where the next process loads it. Throws if the file is
 * missing or has changed since the backup; then there is nothing to load.
 */
export async function placeSnapshot(
  { path, sha256 }: SnapshotFile,
  folder: Pick<ShardFolder, 'data'>,
  signal: AbortSignal,
): Promise<void> {
  const draft = join(folder.data, 'seed.draft')
  await rm(draft, { force: true })
  try {
    const found = await copyHashed(path, draft, signal)
    if (found !== sha256)
      throw new Error(`the file of the backup has changed: its hash is ${found}, not ${sha256}`)
    await rename(draft, join(folder.data, 'dump.rdb'))
  } finally {
    await rm(draft, { force: true })
  }
}

async function copyHashed(from: string, to: string, signal: AbortSignal): Promise<string> {
  await using source = await openPlainFile(from)
  await using target = await openPlainFile(to, NEW_FILE)
  const hash = createHash('sha256')
  for await (const chunk of source.createReadStream({ autoClose: false, highWaterMark: CHUNK_BYTES })) {
    signal.throwIfAborted()
    hash.update(chunk as Buffer)
    await target.writeFile(chunk as Buffer)
  }
  await target.sync()
  return hash.digest('hex')
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
const CHUNK_BYTES = 1024 * 1024

/**
 * Writes the nodes.conf of a shard that begins with data in cluster mode: it owns its slots. Without the
 * file, an engine takes only the slots of which it has a key. Without a shard id (which redis before 7.2
 * ignores), CLUSTER SHARDS leaves the shard out, and CLUSTER NODES then has its slots twice.
 */
export async function writeOwnSlots(
  { port }: Pick<ShardSpec, 'port'>,
  { slots, group }: Pick<Seed, 'slots' | 'group'>,
  folder: Pick<ShardFolder, 'data'>,
): Promise<void> {
  const [id, shardId] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')]
  // Each group has its own epoch, so that none has to change.
  const epoch = group + 1
  const node = `${id} 127.0.0.1:${port}@${port + BUS_DISTANCE},,shard-id=${shardId} myself,master - 0 0 ${epoch} connected ${slots.first}-${slots.last}`
  const text = `${node}\nvars currentEpoch ${epoch} lastVoteEpoch 0\n`
  await writeDurably(join(folder.data, 'nodes.conf'), text)
}
