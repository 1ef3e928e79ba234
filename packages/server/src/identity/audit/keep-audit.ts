import { createMutex } from '@fairlead/engine'
import type { Logger } from 'pino'
import { type AuditRecord, fairlead } from '../../core/identity/audit-record.ts'
import { keptSince, removeUpTo } from '../../core/identity/audit-retention.ts'
import type { Store } from '../../store/open-store.ts'
import { auditStore } from '../stores/audit-store.ts'
import type { AuditCounter } from './audit-counter.ts'
import { printHead } from './verify-audit.ts'

export interface AuditKeeper extends AsyncDisposable {
  /** Does the work that is due: counts, the log of new records, removal of old ones. A timer calls it. */
  tend(): Promise<void>
}

/** Maximum age of a record when it is logged. */
const TEND_EVERY_MS = 10_000
const REMOVE_EVERY_MS = 3_600_000
const DAY_MS = 86_400_000
/** Records of one query. */
const PAGE = 1_000

interface Deps {
  readonly store: Store
  readonly counter: AuditCounter
  /** Days that records are kept. */
  readonly days: number
  /** One of several servers logs and removes records. */
  readonly isOurs: () => boolean
  readonly now: () => number
  readonly log: Logger
}

/**
 * Maintains the audit until it is disposed of. Reports if the last record that it saw disappears: a
 * PostgreSQL that fails over to a replica may lose it.
 */
export async function keepAudit(deps: Deps): Promise<AuditKeeper> {
  const { store, counter, days, isOurs, now, log } = deps
  const audit = auditStore(store.db)
  const runExclusive = createMutex()
  let seen: AuditRecord | undefined
  let removedAtMs = Number.NEGATIVE_INFINITY
  let headOn = Math.floor(now() / DAY_MS)

  const follow = async () => {
    if (isOurs()) await logRecords(store, log)
    const last = await audit.last()
    if (seen !== undefined && last?.hash !== seen.hash) await reportIfLost(deps, seen)
    seen = last ?? seen
    const today = Math.floor(now() / DAY_MS)
    // A warning, so that it is logged at every log level.
    if (today !== headOn && seen) log.warn({ auditHead: printHead(seen) }, 'the head of the audit today')
    headOn = today
  }
  const look = async () => {
    await counter.flush(false)
    if (isOurs() && now() - removedAtMs >= REMOVE_EVERY_MS) {
      removedAtMs = now()
      await removeOld(store, days, now())
    }
    await follow()
  }
  const tend = () => runExclusive(look)

  await tend()
  const timer = setInterval(() => {
    tend().catch((err: unknown) => log.error({ err }, 'the audit could not be maintained'))
  }, TEND_EVERY_MS)
  timer.unref()

  return {
    tend,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await runExclusive(async () => undefined) // waits for a call in progress
      await counter.flush(true)
      await follow()
    },
  }
}

/**
 * Removes records that are too old or too many, and records the end of what was removed: the chain starts
 * there.
 */
export async function removeOld(store: Store, days: number, nowMs: number, most?: number): Promise<void> {
  await store.transaction(async (db) => {
    const audit = auditStore(db)
    const { first, last, lastOld } = await audit.extent(keptSince(days, nowMs))
    const upTo = removeUpTo({ first, last, lastOld }, most)
    const end = upTo === null ? undefined : await audit.get(upTo)
    if (end === undefined) return
    await audit.removeUpTo(end.seq)
    const details = { first, last: end.seq, hash: end.hash }
    await audit.append({ type: 'audit_removed', by: fairlead, details }, new Date(nowMs).toISOString())
  })
}

/**
 * Logs each record that was not logged before, in order. A record may be logged twice, but is never left out.
 */
async function logRecords({ db }: Store, log: Logger): Promise<void> {
  if (!log.isLevelEnabled('info')) return
  const audit = auditStore(db)
  for (let after = await audit.loggedUpTo(); ; ) {
    const page = await audit.listAfter(after, PAGE)
    for (const record of page) log.info({ audit: record }, 'a record of the audit')
    after = page.at(-1)?.seq ?? after
    if (page.length > 0) await audit.noteLogged(after)
    if (page.length < PAGE) return
  }
}

async function reportIfLost({ store, now, log }: Deps, seen: AuditRecord): Promise<void> {
  const audit = auditStore(store.db)
  const [first] = await audit.listAfter(0, 1)
  const isRemoved = first !== undefined && first.seq > seen.seq
  if (isRemoved || (await audit.get(seen.seq))?.hash === seen.hash) return
  const head = printHead(seen)
  log.error({ auditHead: head }, 'the audit was cut off or rewritten')
  const event = { type: 'audit_head_missing', by: fairlead, details: { head } } as const
  await store.transaction((db) => auditStore(db).append(event, new Date(now()).toISOString()))
}
