import type { Connection } from '../connection/connection.ts'
import { askRole } from './ask-role.ts'
import type { Hold } from './hold.ts'
import type { Target } from './open-link.ts'

/**
 * The longest wait of clients when the time of a hold is over and the former primary would only refuse their writes,
 * or is silent: longer than the agent leaves a stalled process alone, and longer than its successor then needs.
 */
const LONGEST_HOLD_MS = 30_000

/** The time of a hold is over, and clients would go on at `target`. True: they may. */
export async function mayLetGo(
  connections: ReadonlySet<Connection>,
  target: Target,
  hold: Pick<Hold, 'ms'>,
): Promise<boolean> {
  const login = [...connections].find(({ state }) => state.login !== null)?.state.login ?? null
  const role = connections.size === 0 ? 'unknown' : await askRole(target, login)
  return role === 'primary' || role === 'unknown' || hold.ms() >= LONGEST_HOLD_MS
}
