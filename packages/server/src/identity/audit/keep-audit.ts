import { createTurns } from '@fairlead/engine'
import type { Logger } from 'pino'
import { type AuditRecord, fairlead } from '../../core/identity/audit-record.ts'
import type { Retention } from '../../core/identity/audit-retention.ts'
import type { Store } from '../../store/open-store.ts'
import { auditSegmentsStore } from '../stores/audit-segments-store.ts'
import { auditStore } from '../stores/audit-store.ts'
import type { AuditCounter } from './audit-counter.ts'
import type { AuditFiles } from './audit-files.ts'
import { sealAudit } from './seal-audit.ts'
import { printHead } from './verify-audit.ts'

export interface AuditKeeper extends AsyncDisposable {
  /** Does the work that is due: signs the head, writes counts, seals old records, and logs the head once a day. Runs by itself. */
  tend(): Promise<void>
}

/** If a record is cut off sooner than this after it was written, nothing shows that it existed. */
const TEND_EVERY_MS = 10_000
const SEAL_EVERY_MS = 3_600_000
const DAY_MS = 86_400_000

interface Deps {
  readonly store: Store
  readonly files: AuditFiles
  readonly counter: AuditCounter
  readonly retention: Retention
  /** One server of all seals, and has the files. */
  readonly isToSeal: () => boolean
  readonly now: () => number
  readonly log: Logger
}

/**
 * Checks that the record that was signed last is still there, at the start and before the next is signed, and reports if it is not; maintains the audit
 * until it is disposed of.
 */
export async function keepAudit(deps: Deps): Promise<AuditKeeper> {
  const { store, files, counter, retention, now, log } = deps
  const audit = auditStore(store.db)
  const inTurn = createTurns()
  let signed: Pick<AuditRecord, 'seq' | 'hash'> | undefined
  let sealedAtMs = Number.NEGATIVE_INFINITY
  let saidOn = dayOf(now())

  const sign = async (): Promise<void> => {
    const last = await audit.last()
    if (last === undefined || last.hash === signed?.hash) return
    // A PostgreSQL that failed over to a replica may have lost it, while this server went on.
    if (signed !== undefined && !(await isThere(store, signed))) {
      await reportLost(deps)
      signed = undefined
      return await sign()
    }
    await files.writeCheckpoint({ seq: last.seq, hash: last.hash, at: new Date(now()).toISOString() })
    signed = last
  }
  const sayDaily = async () => {
    const today = dayOf(now())
    if (today === saidOn) return
    saidOn = today
    const last = await audit.last()
    // A warning, so that it is logged at every log level: kept on another machine, it is a proof that an attacker here cannot change.
    if (last !== undefined) log.warn({ auditHead: printHead(last) }, 'the head of the audit today')
  }
  const look = async () => {
    await counter.flush(false)
    if (deps.isToSeal() && now() - sealedAtMs >= SEAL_EVERY_MS) {
      sealedAtMs = now()
      await sealAudit({ store, files, now }, retention)
    }
    await sign()
    await sayDaily()
  }
  const tend = () => inTurn(look)

  await reportLost(deps)
  await tend()
  const timer = setInterval(() => {
    tend().catch((err: unknown) => log.error({ err }, 'the audit could not be maintained'))
  }, TEND_EVERY_MS)
  timer.unref()

  return {
    tend,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await inTurn(async () => undefined) // what has begun
      await counter.flush(true)
      await sign()
    },
  }
}

/** A record that this cluster signed is missing: the store is older, or was changed from outside. */
async function reportLost({
  store,
  files,
  now,
  log,
}: Pick<Deps, 'store' | 'files' | 'now' | 'log'>): Promise<void> {
  const { last } = await files.readCheckpoints()
  if (last === null || (await isThere(store, last))) return
  log.error({ auditHead: printHead(last), signedAt: last.at }, 'the audit was cut off or rewritten')
  await files.setCheckpointAside()
  const details = { head: printHead(last), signed: last.at }
  await store.transaction((db) =>
    auditStore(db).append(
      { type: 'audit_head_missing', by: fairlead, details },
      new Date(now()).toISOString(),
    ),
  )
}

/** In the store, or sealed since: verifyAudit reads those files. */
async function isThere({ db }: Store, { seq, hash }: Pick<AuditRecord, 'seq' | 'hash'>): Promise<boolean> {
  const record = await auditStore(db).get(seq)
  if (record !== undefined) return record.hash === hash
  const segment = (await auditSegmentsStore(db).list()).find(({ first, last }) => first <= seq && seq <= last)
  return segment !== undefined && (seq < segment.last || segment.head === hash)
}

const dayOf = (ms: number) => Math.floor(ms / DAY_MS)
