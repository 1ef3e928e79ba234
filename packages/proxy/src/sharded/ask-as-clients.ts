import type { Upstream } from '../endpoint/upstream.ts'
import { loginsOf } from '../handover/logins-of.ts'
import type { Place } from '../handover/open-link.ts'
import { askSlots } from './ask-slots.ts'
import type { SlotView } from './slot-view.ts'

/** Asks the engine at `target` for the owners of slots, as an entitled client. Throws the last failure. */
export async function askAsClients(
  target: Place,
  upstreams: readonly Pick<Upstream, 'connections'>[],
): Promise<SlotView> {
  let trouble: unknown
  for (const login of loginsOf(upstreams)) {
    try {
      return await askSlots(target, login)
    } catch (cause) {
      trouble = cause
    }
  }
  throw trouble
}
