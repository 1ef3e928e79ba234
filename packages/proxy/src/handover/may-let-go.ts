import type { Connection } from '../connection/connection.ts'
import { askRole } from './ask-role.ts'
import type { Hold } from './hold.ts'
import type { Target } from './open-link.ts'

/**
 * Longest wait after the hold's deadline if the former primary would refuse writes or is silent. Longer than
 * the agent leaves a stalled process alone, plus the successor's time.
 */
const LONGEST_HOLD_MS = 30_000

/** Returns true if clients may continue at `target` after the hold's deadline. */
export async function mayLetGo(
  connections: ReadonlySet<Connection>,
  target: Target,
  hold: Pick<Hold, 'ms'>,
): Promise<boolean> {
  const login =
    [...connections].find(({ session: { state } }) => state.login !== null)?.session.state.login ?? null
  const role = connections.size === 0 ? 'unknown' : await askRole(target, login)
  return role === 'primary' || role === 'unknown' || hold.ms() >= LONGEST_HOLD_MS
}
