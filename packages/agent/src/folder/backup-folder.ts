import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { NodeBackup } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { parseAs } from '../process/check-schema.ts'
import { writeDurably } from '../process/durable-file.ts'
import { removeTree } from '../process/remove-tree.ts'

/** Names of backups have no dot, so none is one of these. */
const UNFINISHED = '.part-'
const FAILED = '.failed-'
const MANIFEST = 'manifest.json'
/** No unfinished one, and no draft. */
const LISTED = /^(\.failed-)?[A-Za-z0-9][\w-]*$/

/**
 * The backups of a node: a folder for each, with its manifest and a file for each group. It gets its name
 * when it is complete. Of a failed one only a manifest remains, which has the reason.
 */
export interface BackupFolder {
  /** The newest first; without those that are being made. */
  list(): Promise<readonly NodeBackup[]>
  /** Makes the folder of an unfinished backup, and returns the path of a group's file in it. */
  begin(backup: NodeBackup): Promise<(group: number) => string>
  /** Gives a backup, whose files are on the disk, its name. */
  complete(backup: NodeBackup): Promise<void>
  /** Removes the files of an unfinished backup. Records its failure if `backup` is one. */
  giveUp(backup: NodeBackup): Promise<void>
  /** Deletes a backup, or the record of its failure. */
  remove(name: string): Promise<void>
}

/** Returns the path of a group's file of a complete backup. */
export function backupFile(home: string, name: string, group: number): string {
  return join(backupsFolder(home), name, fileOf(group))
}

/**
 * Opens the backups under `home`. One that an earlier agent did not complete becomes a failed one; what
 * cannot be cleared away is logged.
 */
export async function openBackupFolder(home: string, logger: Logger): Promise<BackupFolder> {
  const folder = backupsFolder(home)
  const unfinished = (name: string) => join(folder, `${UNFINISHED}${name}`)
  const failed = (name: string) => join(folder, `${FAILED}${name}`)
  const giveUp = async (backup: NodeBackup) => {
    if (backup.state === 'failed') await writeDurably(failed(backup.name), toText(backup))
    await removeTree(unfinished(backup.name))
  }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    if (!name.startsWith(UNFINISHED)) continue
    const left = await readManifest(join(folder, name, MANIFEST))
    const why = 'the agent ended while it was being made: begin another'
    const cleared = left === null ? removeTree(join(folder, name)) : giveUp({ ...left, state: 'failed', why })
    await cleared.catch((err: unknown) => logger.error({ err, name }, 'the rest of a backup stays'))
  }
  return {
    giveUp,
    async list() {
      const names = (await readdir(folder)).filter((name) => LISTED.test(name))
      const read = names.map(async (name) => {
        const isFailed = name.startsWith(FAILED)
        const backup = await readManifest(join(folder, name, ...(isFailed ? [] : [MANIFEST])))
        // A person may have put it there, under another name.
        return backup !== null && name === (isFailed ? `${FAILED}${backup.name}` : backup.name)
          ? backup
          : null
      })
      const found = (await Promise.all(read)).filter((backup) => backup !== null)
      return found.toSorted((a, b) => b.startedAt - a.startedAt)
    },
    async begin(backup) {
      const path = unfinished(backup.name)
      await mkdir(path, { mode: 0o700 })
      await writeDurably(join(path, MANIFEST), toText(backup))
      return (group) => join(path, fileOf(group))
    },
    async complete(backup) {
      await writeDurably(join(unfinished(backup.name), MANIFEST), toText(backup))
      await rename(unfinished(backup.name), join(folder, backup.name))
      await using directory = await open(folder, 'r')
      await directory.sync()
    },
    async remove(name) {
      await removeTree(failed(name))
      // Without its name first: what a crash leaves is no backup.
      await rename(join(folder, name), unfinished(name)).catch((cause: unknown) => {
        if (codeOf(cause) !== 'ENOENT') throw cause
      })
      await removeTree(unfinished(name))
    },
  }
}

function backupsFolder(home: string): string {
  return join(home, 'backups')
}

function fileOf(group: number): string {
  return `group-${group}.rdb`
}

function toText(backup: NodeBackup): string {
  return `${JSON.stringify(backup, null, 2)}\n`
}

/** Null if it is missing, or not one of ours: it is then no backup. */
async function readManifest(path: string): Promise<NodeBackup | null> {
  try {
    return parseAs(NodeBackup, await readFile(path, 'utf8'))
  } catch {
    return null
  }
}
