import { codeOf, messageOf } from '@fairlead/engine'
import { isUndoable } from '../../core/plan/apply-deadlines.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { observe } from '../look/observe.ts'
import { giveUpAction, noteTrouble } from '../records/note-action.ts'
import type { TurnPorts } from './turn-ports.ts'

/** Trouble this many times in a row (about 25 s) before the handover ends an upgrade: it is undone. Any other action goes on trying, and a person is asked. */
const GIVE_UP_AFTER = 9

/** A turn has failed, the `timesInARow`-th time: the action says why it waits, and is given up where that helps; if it lasts, a person is asked. */
export async function meetTrouble(
  uid: number,
  cause: unknown,
  timesInARow: number,
  ports: TurnPorts,
): Promise<void> {
  // The store is away for all databases: this is no reason to give up the upgrade of one.
  if (codeOf(cause) === 'STORE_AWAY') return
  const why = messageOf(cause)
  const database = await ports.databases.get(uid)
  const action = await ports.actions.active(uid)
  if (database === undefined || action === undefined) return
  await noteTrouble(action, why, timesInARow >= GIVE_UP_AFTER, ports)
  // An agent that is away or late is so for all databases, and to undo the upgrade would be more work for it.
  if (cause instanceof AgentUnreachable) return
  if (timesInARow < GIVE_UP_AFTER || action.error !== null) return
  const seen = await observe(database, ports, AbortSignal.timeout(5_000))
  if (isUndoable(seen, action.goal)) await giveUpAction(action, { why }, ports)
}
