import { ApiError } from '@fairlead/api'
import type { Database } from '../../core/state/database.ts'
import { endpointName } from '../../core/state/endpoint-reach.ts'
import { TAPED_FOR_MS } from '../../core/state/handover.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { ObservedDatabase, ObservedGroup } from '../../core/state/topology.ts'
import { ProxyUnreachable } from '../../nodes/proxy-link.ts'
import type { EndpointProxy, HandoverRecords } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { slotOf } from './endpoints.ts'

type TapingPorts = EndpointProxy<'readTape'> & HandoverRecords<'keepTape'>

/**
 * Stores the endpoint's counts around each group's last handover when they are complete, or earlier if the
 * role is about to move again. The proxy keeps them for two minutes; after its replacement the handover has
 * none.
 */
export async function keepTapes(
  database: Database,
  { groups }: ObservedDatabase,
  lanes: readonly Lane[],
  ports: TapingPorts,
  memory: Pick<TurnMemory, 'notes' | 'again'>,
): Promise<void> {
  for (const { group, tapeDue } of groups) {
    if (tapeDue === undefined) continue
    const [what, id] = [`tape of ${database.uid} group ${group}`, String(tapeDue.handover)]
    if (memory.notes.get(what) === id) continue
    const isComplete = tapeDue.ageMs >= TAPED_FOR_MS
    if (!isComplete) memory.again(what)
    if (!isComplete && !movesAgain(group, lanes)) continue
    if (await take(database, group, tapeDue, ports)) {
      if (isComplete) memory.notes.set(what, id)
      continue
    }
    memory.again(what)
    // All groups share a proxy: each further request could take as long, and repairs wait for it.
    return
  }
}

/** Returns false if the proxy does not answer. */
async function take(
  database: Database,
  group: number,
  { handover, heldMs }: NonNullable<ObservedGroup['tapeDue']>,
  { proxy, handovers }: TapingPorts,
): Promise<boolean> {
  try {
    const params = { id: endpointName(database.uid) }
    const { tape } = await proxy.readTape({ params, query: slotOf(database, group) })
    // Another tape is of a move without a handover.
    if (tape !== null && tape.heldMs === heldMs) await handovers.keepTape(handover, tape)
    return true
  } catch (cause) {
    if (cause instanceof ProxyUnreachable) return false
    if (cause instanceof ApiError) return true
    throw cause
  }
}

function movesAgain(group: number, lanes: readonly Lane[]): boolean {
  return lanes.some(
    (lane) => lane.group === group && lane.verdict.kind === 'do' && lane.verdict.step.kind === 'hand-over',
  )
}
