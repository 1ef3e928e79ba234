import { ApiError } from '@fairlead/api'
import { type EffectRunner, type EngineConnection, EngineError, EngineUnreachable } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import { endpointName } from '../../core/state/endpoint-reach.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { isServed, slotOf } from '../clients/endpoints.ts'
import type { EndpointProxy, EngineConnections, PassingTime } from '../turn/ports.ts'

/** Commands per batch: one takes the engine at most 1 ms, and it serves others in between. */
const AT_ONCE = 64
/**
 * Time from the request to the proxy to the last order. The proxy keeps answered clients waiting for a
 * second, so no order ends a later command; the demotion ends the rest.
 */
const WITHIN_MS = 300

/**
 * Before clients are held: ends many blocking commands of the endpoint's clients at the primary. A demotion
 * would end all of them while writes are stopped. The endpoint sends them again, to the successor or the same
 * primary; best effort.
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
  const until = time.elapsed() + WITHIN_MS
  try {
    const { addresses } = await proxy.giveUpBlocked({
      params: { id: endpointName(database.uid) },
      body: slotOf(database, group),
    })
    if (addresses.length === 0) return
    const newest = await engines.newestClient(database, { id, ...primary.address })
    await effect('give-up-blocked', () =>
      unblock(primary, newest, new Set(addresses), () => time.elapsed() < until),
    )
  } catch (cause) {
    // An older proxy does not know this order, and Redis before 6.2 has no such list. If the engine is gone,
    // the next command reports it.
    if (![ApiError, AgentUnreachable, EngineError, EngineUnreachable].some((kind) => cause instanceof kind))
      throw cause
  }
}

/**
 * Ends blocking commands between other commands: each is either answered or not executed. CLIENT LIST of
 * 3,000 clients takes longer than ending their commands, so it is read in parts by client number, newest
 * first.
 */
async function unblock(
  primary: EngineConnection,
  newest: number,
  addresses: Set<string>,
  isInTime: () => boolean,
): Promise<void> {
  for (let last = newest; last > 0 && addresses.size > 0 && isInTime(); last -= AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, last) }, (_, n) => last - n)
    const list = await primary.call('CLIENT', 'LIST', 'ID', ...numbers)
    const blocked = blockedOf(String(list), addresses)
    if (isInTime()) await Promise.all(blocked.map((id) => primary.call('CLIENT', 'UNBLOCK', id, 'ERROR')))
  }
}

/** Returns the blocked clients' numbers and removes their addresses. `list`: answer of CLIENT LIST. */
function blockedOf(list: string, addresses: Set<string>): readonly string[] {
  return list.split('\n').flatMap((line) => {
    const [, id = '', address = '', flags = ''] = /^id=(\d+) addr=(\S+) .* flags=(\S+) /.exec(line) ?? []
    return addresses.delete(address) && flags.includes('b') ? [id] : []
  })
}
