import { ApiError } from '@fairlead/api'
import { type EngineConnection, EngineError, EngineUnreachable } from '@fairlead/engine'
import type { Database } from '../../core/state/database.ts'
import { endpointName } from '../../core/state/endpoint-name.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { isServed, slotOf } from '../clients/endpoints.ts'
import type { EffectRunner, EndpointProxy, EngineConnections, PassingTime } from '../turn/ports.ts'

/** Between two batches an engine serves others: a batch takes it a millisecond or less. */
const AT_ONCE = 64
/**
 * Limits the time from the question to the proxy to the last order. The proxy lets clients that were answered wait for a
 * second, so no order ends a later command; the demotion ends what is left.
 */
const WITHIN_MS = 300

/**
 * Before clients are held: makes a primary end the blocking commands of the endpoint's clients, if these are many. A demotion
 * would end them all at once, and writes would be stopped for as long as that takes. The endpoint sends them again, to the successor or to the same primary. Best effort.
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
    // An older proxy does not know this order, and a redis before 6.2 has no such list. If the engine is gone, the next command to it says so.
    if (![ApiError, AgentUnreachable, EngineError, EngineUnreachable].some((kind) => cause instanceof kind))
      throw cause
  }
}

/**
 * A blocking command is ended between two other commands: it was executed and answered, or it was not executed. CLIENT LIST of 3,000 clients takes
 * longer than ending their commands; so the list is read in parts, by client numbers, the newest first.
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

/** The numbers of the blocked clients among these addresses. Each address that is found is removed from `addresses`. `list`: the answer of CLIENT LIST. */
function blockedOf(list: string, addresses: Set<string>): readonly string[] {
  return list.split('\n').flatMap((line) => {
    const [, id = '', address = '', flags = ''] = /^id=(\d+) addr=(\S+) .* flags=(\S+) /.exec(line) ?? []
    return addresses.delete(address) && flags.includes('b') ? [id] : []
  })
}
