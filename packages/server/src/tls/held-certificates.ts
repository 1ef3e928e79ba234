import type { Actor } from '../core/identity/access.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import type { TlsTerms } from '../core/identity/tls-terms.ts'
import { auditStore } from '../identity/stores/audit-store.ts'
import type { Store } from '../store/open-store.ts'
import type { SecretBox } from '../store/secret-box.ts'
import { readTerms } from './read-certificate.ts'
import { type TlsName, type TlsRecord, tlsStore } from './tls-store.ts'

/** A certificate with its terms. */
export type Held = TlsRecord & TlsTerms & { readonly fingerprint: string }

/** The stored certificates, each read and parsed once. */
export interface HeldCertificates {
  /** Undefined: none of this name yet. */
  find(name: TlsName): Promise<Held | undefined>
  /** Replaces a certificate, and records `why` in the audit, in one transaction. */
  keep(name: TlsName, record: TlsRecord, why: string, by: Actor): Promise<Held>
  /** Removes a certificate, recorded in the audit. */
  drop(name: TlsName, by: Actor): Promise<void>
}

/** Longer than such a certificate is valid. */
const API_KEPT_MS = 100 * 24 * 60 * 60 * 1000

/** The only writer of certificates in `store`, because known ones are not read again. `now`: Unix ms. */
export function createHeldCertificates(deps: {
  readonly store: Store
  readonly box: SecretBox
  readonly now: () => number
}): HeldCertificates {
  const { store, box, now } = deps
  const held = new Map<TlsName, Held>()
  const hold = (name: TlsName, record: TlsRecord): Held => {
    const made = { ...record, ...readTerms(record.cert) }
    held.set(name, made)
    return made
  }
  return {
    async find(name) {
      const known = held.get(name)
      if (known !== undefined && !store.isShared) return known
      const record = await tlsStore(store.db, box).get(name)
      return known !== undefined && known.cert === record?.cert ? known : record && hold(name, record)
    },
    async keep(name, record, why, by) {
      const at = new Date(now()).toISOString()
      const { fingerprint, toMs } = readTerms(record.cert)
      const details = { name, fingerprint, valid_to: new Date(toMs).toISOString(), why }
      const known = held.get(name)
      const kept = await store.transaction(async (db) => {
        const there = await tlsStore(db, box).get(name)
        // Another server renewed it first.
        if (by === fairlead && there !== undefined && there.cert !== known?.cert) return there
        await tlsStore(db, box).put(name, record, at)
        // Removes expired certificates of a server's earlier names. This reads all, also those of databases.
        if (name.startsWith('api:'))
          await tlsStore(db, box).removeApiBefore(new Date(now() - API_KEPT_MS).toISOString())
        await auditStore(db).append({ type: 'tls_certificate_changed', by, details }, at)
        return record
      })
      return hold(name, kept)
    },
    async drop(name, by) {
      const at = new Date(now()).toISOString()
      const details = { name, why: 'the one that an operator had given is removed' }
      await store.transaction(async (db) => {
        await tlsStore(db, box).remove(name)
        await auditStore(db).append({ type: 'tls_certificate_changed', by, details }, at)
      })
      held.delete(name)
    },
  }
}
