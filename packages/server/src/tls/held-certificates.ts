import type { Actor } from '../core/identity/access.ts'
import { fairlead } from '../core/identity/audit-record.ts'
import type { TlsTerms } from '../core/identity/tls-terms.ts'
import { auditStore } from '../identity/stores/audit-store.ts'
import type { Store } from '../store/open-store.ts'
import type { SecretBox } from '../store/secret-box.ts'
import { readTerms } from './read-certificate.ts'
import { type TlsName, type TlsRecord, tlsStore } from './tls-store.ts'

/** A certificate with what it says of itself. */
export type Held = TlsRecord & TlsTerms & { readonly fingerprint: string }

/** The certificates in the store, each read and parsed once. */
export interface HeldCertificates {
  /** Undefined: there is none of this name yet. */
  find(name: TlsName): Promise<Held | undefined>
  /** Stores a certificate in place of the one before, and `why` in the audit, in one transaction. */
  keep(name: TlsName, record: TlsRecord, why: string, by: Actor): Promise<Held>
  /** Forgets one, and the audit says so. */
  drop(name: TlsName, by: Actor): Promise<void>
}

/** Longer than such a certificate lives. */
const API_KEPT_MS = 100 * 24 * 60 * 60 * 1000

/** Nothing but this may write certificates to `store`: what is held is not read again. `now` is Unix milliseconds. */
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
        // Another server was quicker to renew it.
        if (by === fairlead && there !== undefined && there.cert !== known?.cert) return there
        await tlsStore(db, box).put(name, record, at)
        // Names of a server change: what it had under others has ended meanwhile.
        // This reads all certificates, those of each database too.
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
