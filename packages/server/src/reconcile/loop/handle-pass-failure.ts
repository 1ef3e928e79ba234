import { codeOf, messageOf } from '@fairlead/engine'
import { isUndoable } from '../../core/plan/apply-deadlines.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { observe } from '../look/observe.ts'
import { giveUpAction } from '../records/give-up-action.ts'
import { recordPassFailure } from '../records/note-wait.ts'
import type { TurnPorts } from './turn-ports.ts'

/**
 * Failures in a row (about 25 s) after which an upgrade before its handover is undone. Any other action
 * continues, and a person is asked.
 */
const GIVE_UP_AFTER = 9

/**
 * Handles the `timesInARow`-th failed turn in a row: the action shows its reason, and is given up if that
 * helps; if failures last, a person is asked.
 */
export async function handlePassFailure(
  uid: number,
  cause: unknown,
  timesInARow: number,
  ports: TurnPorts,
): Promise<void> {
  // The store is away for all databases: no reason to give up one upgrade.
  if (codeOf(cause) === 'STORE_AWAY') return
  const why = messageOf(cause)
  const database = await ports.databases.get(uid)
  const action = await ports.actions.active(uid)
  if (database === undefined || action === undefined) return
  await recordPassFailure(action, why, timesInARow >= GIVE_UP_AFTER, ports)
  // An absent or late agent affects all databases, and undoing the upgrade would add work for it.
  if (cause instanceof AgentUnreachable) return
  if (timesInARow < GIVE_UP_AFTER || action.error !== null) return
  const seen = await observe(database, ports, AbortSignal.timeout(5_000))
  if (isUndoable(seen, action.goal)) await giveUpAction(action, { why }, ports)
}
