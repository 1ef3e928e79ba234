import { ApiError } from '@fairlead/api'
import { type EngineConnection, EngineError, EngineUnreachable } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import { endpointName } from '../../core/state/endpoint-name.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { isServed, slotOf } from '../clients/endpoints.ts'
import type { EffectRunner, EndpointProxy, EngineConnections, PassingTime } from '../turn/ports.ts'
import type { Time } from '../turn/time.ts'

/** In between an engine does other things: these take it a millisecond or less. */
const AT_ONCE = 64
/** Whatever blocks after that is given up when the engine is demoted. */
const WITHIN_MS = 300

/**
 * Before clients are held: makes a primary give up the blocking commands of the endpoint's clients, if these are many. Demoted, it
 * would give them all up at once, and writes would be stopped for as long as that takes. The endpoint asks them again, at the successor or here. Best effort.
 */
export async function giveUpBlocked(
  database: Database,
  group: number,
  { id, connection: primary }: { readonly id: number; readonly connection: EngineConnection },
  {
    proxy,
    engines,
    effect,
    time,
  }: EndpointProxy<'giveUpBlocked'> & EngineConnections<'newestClient'> & EffectRunner & PassingTime,
): Promise<void> {
  if (!isServed(database)) return
  try {
    const { addresses } = await proxy.giveUpBlocked({
      params: { id: endpointName(database.uid) },
      body: slotOf(database, group),
    })
    if (addresses.length === 0) return
    const newest = await engines.newestClient(database, { id, ...primary.address })
    await effect('give-up-blocked', () => unblock(primary, newest, new Set(addresses), time))
  } catch (cause) {
    // An older proxy does not know this order, and a redis before 6.2 has no such list; the next question notices an engine that is gone.
    if (![ApiError, AgentUnreachable, EngineError, EngineUnreachable].some((kind) => cause instanceof kind))
      throw cause
  }
}

/**
 * Each command is given up between two others: it was carried out and answered, or it was not. CLIENT LIST tells of 3,000 clients at a time for
 * longer than their commands take to be given up; so it is asked for a few at a time, by their numbers, the newest first.
 */
async function unblock(
  primary: EngineConnection,
  newest: number,
  addresses: Set<string>,
  { elapsed }: Pick<Time, 'elapsed'>,
): Promise<void> {
  const until = elapsed() + WITHIN_MS
  for (let last = newest; last > 0 && addresses.size > 0 && elapsed() < until; last -= AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, last) }, (_, n) => last - n)
    const list = await primary.call('CLIENT', 'LIST', 'ID', ...numbers)
    const blocked = blockedOf(String(list), addresses)
    await Promise.all(blocked.map((id) => primary.call('CLIENT', 'UNBLOCK', id, 'ERROR')))
  }
}

/** The numbers of the clients that are blocked, of those that come from these addresses, which are taken from these. `list`: what CLIENT LIST says. */
function blockedOf(list: string, addresses: Set<string>): readonly string[] {
  return list.split('\n').flatMap((line) => {
    const [, id = '', address = '', flags = ''] = /^id=(\d+) addr=(\S+) .* flags=(\S+) /.exec(line) ?? []
    return addresses.delete(address) && flags.includes('b') ? [id] : []
  })
}
