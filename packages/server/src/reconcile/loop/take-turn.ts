import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { LeaseLost } from '../../leases/lease-lost.ts'
import type { Leases } from '../../leases/leases-service.ts'
import { StaleEpoch } from '../../nodes/agent-link.ts'
import type { Turn } from './reconcile-database.ts'

/** Pause before a retry when the lease is about to be renewed. */
const LEASE_AGAIN_MS = 500

/**
 * Takes a turn within the lease. A database held by another server is gone for this one; its turns continue
 * there, and here again if this server takes it back.
 */
export async function takeTurn(
  uid: number,
  leases: Pick<Leases, 'heldEpoch' | 'during' | 'raise'>,
  turn: () => Promise<Turn>,
  log: Pick<Logger, 'debug'>,
): Promise<Turn> {
  try {
    return await leases.during(uid, turn)
  } catch (cause) {
    if (leases.heldEpoch(uid) === undefined) {
      log.debug({ database: uid, why: messageOf(cause) }, 'another server holds this database')
      return { next: 'gone' }
    }
    // The lease may have been too short for an effect, and be renewed now. If it is lost, the next renewal
    // shows it.
    if (cause instanceof LeaseLost) return { next: 'again', afterMs: LEASE_AGAIN_MS }
    if (cause instanceof StaleEpoch) await leases.raise(uid)
    throw cause
  }
}
