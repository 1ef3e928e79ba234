import { type AuditRecord, NO_HASH } from '../../core/identity/audit-record.ts'
import type { Db } from '../../store/open-store.ts'
import { type AuditSegment, auditSegmentsStore } from '../stores/audit-segments-store.ts'
import { auditStore, hashOf } from '../stores/audit-store.ts'
import type { AuditFiles, Checkpoint } from './audit-files.ts'

/** What a verification of the audit found. */
export interface Verification {
  readonly records: number
  /** `<number>:<hash>` of the last record. Kept elsewhere, it proves later that nothing was cut off or rewritten. */
  readonly head: string
  /** When this cluster last signed a head that is still there; undefined: never. */
  readonly signedAt: string | undefined
  /** Records in sealed files that have had to make room: their hashes are known, their words are not. */
  readonly removed: number
  /** What is wrong; undefined: nothing. */
  readonly fault: string | undefined
}

interface Link {
  readonly seq: number
  readonly hash: string
}

/** Records that are looked at in one query. */
const PAGE = 1_000

/**
 * Walks the whole chain, sealed files first: every record's hash, its predecessor, no gap, and none missing at the end. What this cluster
 * signed must still be there, and `head`, what a verification answered before.
 */
export async function verifyAudit(
  db: Db,
  files: Pick<AuditFiles, 'readSegment' | 'readCheckpoints'>,
  head?: string,
): Promise<Verification> {
  const wanted = new Set(head === undefined || head === printHead(beginning) ? [] : [head])
  const walk: Walk = { last: beginning, removed: 0, wanted, asked: head }
  let signed: Checkpoint | null = null
  const end = (fault: string | undefined): Verification => ({
    ...{ records: walk.last.seq, head: printHead(walk.last), removed: walk.removed, fault },
    signedAt: signed?.at,
  })
  try {
    const { last, lost } = await files.readCheckpoints()
    signed = last
    for (const checkpoint of [...lost, ...(last === null ? [] : [last])]) wanted.add(printHead(checkpoint))
    await walkSegments(db, files, walk)
    await walkRecords(db, walk)
  } catch (cause) {
    if (cause instanceof Error) return end(cause.message)
    throw cause
  }
  const expected = await auditStore(db).lastNumber()
  const { seq } = walk.last
  if (expected !== seq) return end(`records ${seq + 1} to ${expected} are missing at the end`)
  const [missing] = wanted
  if (missing === undefined) return end(undefined)
  const who = missing === head ? '' : ', which this cluster has signed,'
  return end(`the record ${missing}${who} is not there any more: the audit was cut off or rewritten`)
}

interface Walk {
  last: Link
  removed: number
  /** Heads that were not found yet. */
  readonly wanted: Set<string>
  readonly asked: string | undefined
}

async function walkSegments(db: Db, files: Pick<AuditFiles, 'readSegment'>, walk: Walk): Promise<void> {
  for (const segment of await auditSegmentsStore(db).list()) {
    if (segment.first !== walk.last.seq + 1 || segment.previous !== walk.last.hash) {
      throw new Error(
        `the sealed records ${segment.first} to ${segment.last} do not follow record ${walk.last.seq}`,
      )
    }
    if (segment.removedAt === null) {
      for (const record of await files.readSegment(segment)) meet(record, walk)
      if (walk.last.hash !== segment.head) throw new Error(`the file audit/${segment.file} has another end`)
      continue
    }
    walk.removed += segment.last - segment.first + 1
    forget(segment, walk)
    pass({ seq: segment.last, hash: segment.head }, walk)
  }
}

async function walkRecords(db: Db, walk: Walk): Promise<void> {
  for (;;) {
    const page = await auditStore(db).listAfter(walk.last.seq, PAGE)
    for (const record of page) meet(record, walk)
    if (page.length < PAGE) return
  }
}

function meet(record: AuditRecord, walk: Walk): void {
  const { last } = walk
  if (record.seq !== last.seq + 1) throw new Error(`record ${last.seq + 1} is missing`)
  if (record.previous !== last.hash)
    throw new Error(`record ${record.seq} does not follow record ${last.seq} in its present form`)
  if (record.hash !== hashOf(record)) throw new Error(`record ${record.seq} was changed`)
  pass(record, walk)
}

function pass({ seq, hash }: Link, walk: Walk): void {
  walk.last = { seq, hash }
  walk.wanted.delete(printHead(walk.last))
}

/** Heads of records that are gone cannot be checked any more. What this cluster signed is covered by the head after them. */
function forget({ first, last, file }: AuditSegment, { wanted, asked }: Walk): void {
  for (const head of wanted) {
    const seq = Number(head.split(':')[0])
    if (seq < first || seq >= last) continue
    if (head === asked)
      throw new Error(`the record ${head} was in audit/${file}, which was deleted to make room`)
    wanted.delete(head)
  }
}

/** A head as text, `<number>:<hash>`: what operators note down and give to a later verification. */
export const printHead = ({ seq, hash }: Link) => `${seq}:${hash}`

const beginning: Link = { seq: 0, hash: NO_HASH }
