import type { Address } from '@fairlead/api'
import { connectEngine, type EngineTls, EngineUnreachable, NotOurs } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import type { SeenDatabase } from '../../core/state/topology.ts'
import type { Knock } from '../../endpoints/endpoints-service.ts'
import { type Eyes, observe } from './observe.ts'

/** What services may know of the world without touching it. */
export interface Sight {
  look(database: Database): Promise<SeenDatabase>
  /** Connects as a client of the database would. */
  knock(address: Address, password: string, tls: EngineTls | null): Promise<Knock>
}

const LOOK_WITHIN_MS = 5_000
/** A client that gets no answer for this long calls it a failure, too. */
const KNOCK_WITHIN_MS = 2_000

/** Looks with the connections of the reconciler; a look that takes too long rejects. */
export function createSight(ports: Eyes): Sight {
  return {
    look: (database) => observe(database, ports, AbortSignal.timeout(LOOK_WITHIN_MS)),
    knock,
  }
}

/** Any answer will do: one that refuses the login comes from an engine that serves. */
export async function knock(
  { host, port }: Address,
  password: string,
  tls: EngineTls | null,
): Promise<Knock> {
  try {
    using _ = await connectEngine({
      address: { host, port },
      login: { username: 'default', password },
      connectTimeoutMs: KNOCK_WITHIN_MS,
      ...(tls !== null && { tls }),
    })
    return { found: 'served', why: '' }
  } catch (cause) {
    if (!(cause instanceof EngineUnreachable)) return { found: 'served', why: '' }
    // A process of another user that has the port is no endpoint, and was told no password.
    const { cause: reason } = cause
    const isRefused = reason instanceof Error && 'code' in reason && reason.code === 'ECONNREFUSED'
    const isUnbound = reason instanceof NotOurs || isRefused
    return { found: isUnbound ? 'nobody listens' : 'no engine answers', why: cause.message }
  }
}
