import { randomUUID } from 'node:crypto'
import type { Address } from '@fairlead/api'
import {
  connectEngine,
  EngineError,
  type EngineTls,
  EngineUnreachable,
  MADE_BY_FAIRLEAD,
  NotOurs,
} from '@fairlead/engine'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import type { ClientProbe } from '../../fleet/endpoints/endpoints-service.ts'
import type { Leases } from '../../leases/leases-service.ts'
import { StaleEpoch } from '../../nodes/agent-link.ts'
import type { Reach, Reaches } from '../turn/reach.ts'
import { type ObservingPorts, observe } from './observe.ts'

/** Observations for services. Changes nothing. */
export interface Observer {
  look(database: Database): Promise<ObservedDatabase>
  /** Connects as a client of the database would. */
  probeAsClient(address: Address, password: string, tls: EngineTls | null): Promise<ClientProbe>
  /**
   * Lets an engine judge words of ACL SETUSER, with a user that cannot sign in and is removed at once.
   * Returns its refusal; undefined: none, or it does not answer.
   */
  judgeRules(database: Database, shard: ShardRecord, words: readonly string[]): Promise<string | undefined>
}

const LOOK_WITHIN_MS = 5_000
/** Clients, too, consider a longer silence a failure. */
const PROBE_WITHIN_MS = 2_000

/**
 * Creates an observer over the reconciler's connections; a look that takes too long rejects. Another server
 * may hold the database: this one gives no orders.
 */
export function createObserver(
  ports: Omit<ObservingPorts, keyof Reach> & {
    readonly reachUnder: Reaches['under']
    readonly leases: Pick<Leases, 'knownEpoch' | 'epochAfterRefusal'>
  },
): Observer {
  const { leases, reachUnder } = ports
  return {
    async look(database) {
      const signal = AbortSignal.timeout(LOOK_WITHIN_MS)
      const lookUnder = (epoch: number) =>
        observe(database, { ...ports, ...reachUnder(database.uid, epoch) }, signal)
      try {
        return await lookUnder(await leases.knownEpoch(database.uid))
      } catch (cause) {
        if (!(cause instanceof StaleEpoch)) throw cause
        // Another server has taken over the database without this one knowing, or the store is older than the
        // running databases.
        return await lookUnder(await leases.epochAfterRefusal(database.uid))
      }
    },
    probeAsClient,
    async judgeRules(database, shard, words) {
      const { engines } = reachUnder(database.uid, await leases.knownEpoch(database.uid))
      const name = `fairlead-judged-${randomUUID()}`
      const refusal = await engines.tryOn(database, shard, async (engine) => {
        try {
          await engine.call('ACL', 'SETUSER', name, 'reset', `#${MADE_BY_FAIRLEAD}`, ...words)
          return undefined
        } catch (cause) {
          if (cause instanceof EngineError) return cause.message
          throw cause
        } finally {
          await engine.call('ACL', 'DELUSER', name)
        }
      })
      return refusal ?? undefined
    },
  }
}

/** An engine that refuses the login or PING serves: its users have other rights than Fairlead knows. */
const refusals: ReadonlySet<string> = new Set(['WRONGPASS', 'NOAUTH', 'NOPERM'])

/** Connects as a client would, and returns how far it came. */
export async function probeAsClient(
  { host, port }: Address,
  password: string,
  tls: EngineTls | null,
): Promise<ClientProbe> {
  try {
    using _ = await connectEngine({
      address: { host, port },
      login: { username: 'default', password },
      connectTimeoutMs: PROBE_WITHIN_MS,
      ...(tls !== null && { tls }),
    })
    return { found: 'served', why: '' }
  } catch (cause) {
    if (!(cause instanceof EngineUnreachable)) return { found: 'served', why: '' }
    // A port held by another user's process is no endpoint; it got no password.
    const { cause: reason } = cause
    const isRefused = reason instanceof Error && 'code' in reason && reason.code === 'ECONNREFUSED'
    if (reason instanceof EngineError && refusals.has(reason.code)) return { found: 'served', why: '' }
    const isUnbound = reason instanceof NotOurs || isRefused
    return { found: isUnbound ? 'no listener' : 'no engine answers', why: cause.message }
  }
}
