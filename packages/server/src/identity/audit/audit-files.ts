import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { codeOf } from '@fairlead/engine'
import type { AuditRecord } from '../../core/identity/audit-record.ts'
import type { SecretBox } from '../../store/secret-box.ts'

/** The head of the audit at a moment, as this cluster signed it. */
export interface Checkpoint {
  readonly seq: number
  readonly hash: string
  readonly at: string
}

/** The parts of the audit outside of the store: sealed records, and the signed head. */
export interface AuditFiles {
  /** Writes a segment, on disk when it resolves. */
  writeSegment(records: readonly AuditRecord[]): Promise<{ file: string; sha256: string; bytes: number }>
  /** The bytes of its file hash to `sha256`, or it throws an error that says what is wrong. */
  readSegment(segment: { readonly file: string; readonly sha256: string }): Promise<readonly AuditRecord[]>
  removeSegment(file: string): Promise<void>
  writeCheckpoint(checkpoint: Checkpoint): Promise<void>
  /** The last one, and those whose record was not there any more when a server started. Throws where one was changed. */
  readCheckpoints(): Promise<{ readonly last: Checkpoint | null; readonly lost: readonly Checkpoint[] }>
  /** Keeps the last one for a person to see: until its file is removed, no verification passes. */
  setCheckpointAside(): Promise<void>
}

const zip = promisify(gzip)
const unzip = promisify(gunzip)
const CHECKPOINT = 'checkpoint'
const LOST = /^checkpoint-lost-\d+$/

/** In `audit` of FAIRLEAD_HOME. A checkpoint is sealed with the key of the store: without that, none can be made. */
export function openAuditFiles(home: string, box: Pick<SecretBox, 'seal' | 'open'>): AuditFiles {
  const folder = join(home, 'audit')
  const path = (file: string) => join(folder, file)
  const readCheckpoint = async (file: string): Promise<Checkpoint | null> => {
    const text = await readFile(path(file), 'utf8').catch(nullIfAbsent)
    // A text that opens was sealed by writeCheckpoint.
    return text === null ? null : (JSON.parse(openSealed(box, file, text)) as Checkpoint)
  }
  return {
    async writeSegment(records) {
      const file = `records-${records[0]?.seq}-${records.at(-1)?.seq}.jsonl.gz`
      const bytes = await zip(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
      await writeDurably(folder, file, bytes)
      return { file, sha256: sha256Of(bytes), bytes: bytes.length }
    },
    async readSegment({ file, sha256 }) {
      const bytes = await readFile(path(file)).catch(nullIfAbsent)
      if (bytes === null) throw new Error(`the file audit/${file} is missing`)
      if (sha256Of(bytes) !== sha256) throw new Error(`the file audit/${file} was changed`)
      const lines = (await unzip(bytes)).toString('utf8').trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line) as AuditRecord) // the hash says that writeSegment wrote them
    },
    removeSegment: (file) => rm(path(file), { force: true }),
    async writeCheckpoint(checkpoint) {
      await writeDurably(
        folder,
        CHECKPOINT,
        Buffer.from(`${box.seal(JSON.stringify(checkpoint), PURPOSE)}\n`),
      )
    },
    async readCheckpoints() {
      const names = await readdir(folder).catch(nullIfAbsent)
      const lost: Checkpoint[] = []
      for (const name of names ?? []) {
        const checkpoint = LOST.test(name) ? await readCheckpoint(name) : null
        if (checkpoint !== null) lost.push(checkpoint)
      }
      return { last: await readCheckpoint(CHECKPOINT), lost }
    },
    async setCheckpointAside() {
      const { last } = await this.readCheckpoints()
      if (last !== null) await rename(path(CHECKPOINT), path(`${CHECKPOINT}-lost-${last.seq}`))
    },
  }
}

const PURPOSE = 'head of the audit'

function openSealed(box: Pick<SecretBox, 'open'>, file: string, text: string): string {
  try {
    return box.open(text.trim(), PURPOSE)
  } catch (cause) {
    throw new Error(`the file audit/${file} was changed, or signed with another key`, { cause })
  }
}

/** Whole or not at all, and on disk. */
async function writeDurably(folder: string, file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `${file}.draft`)
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, join(folder, file))
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function nullIfAbsent(cause: unknown): null {
  if (codeOf(cause) === 'ENOENT') return null
  throw cause
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
