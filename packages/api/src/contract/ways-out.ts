import type { OrderName } from './action-words.ts'
import type { HoldReason } from './hold-reasons.ts'

/*
 * Advice about a stuck action by `hold_reason`, for the command line and the console;
 * docs/reference/hold-reasons.md is printed from it.
 */

/** Advice with its reason. */
export interface WayOut {
  /** The order to give; null: examine the shards first. */
  readonly order: OrderName | null
  readonly why: string
}

const look = (why: string): WayOut => ({ order: null, why })
const again = (why: string): WayOut => ({ order: 'retry', why })
const back = (why: string): WayOut => ({ order: 'rollback', why })
const noUse = 'The target is of no use for this database: taking the upgrade back loses nothing'
const noRoom =
  'Make room on the disk of the node first. It is tried again automatically; this does it immediately'

/** For any other reason. */
export const wayOutOfRest = again(
  'It is tried again immediately, which loses nothing, and shows whether it is still blocked',
)

/** Names the only order that ends a rollback which the former build cannot complete. */
export const wayOutOfRollback: WayOut = {
  order: 'finalize',
  why: 'The former build cannot take over the data that the target holds: the target keeps serving, and the way back is given up',
}

/** Advice by reason. */
export const waysOut: { readonly [Reason in HoldReason]?: WayOut } = {
  shard_hung: look(
    'Look at the process first: status_reason of the shard has its number. A stopped process continues with all its data after kill -CONT; ending a process deletes the data that only it holds',
  ),
  shard_failing: again(
    'Remove the cause that the engine names (a damaged file, a missing build) first. It is tried again automatically; this does it immediately',
  ),
  diverged: look(
    'Compare the data of both shards before you end one of them: data that only that one holds is lost',
  ),
  data_missing: look(
    'Look at the data of each shard before anything else: docs/explain/strangers.md describes how to decide',
  ),
  node_room: again(noRoom),
  save_failed: again(noRoom),
  memory_size: again('Raise memory_size of the database first, so that its data fit the target'),
  cannot_read: back(noUse),
  trial_failed: back(noUse),
  users: back(noUse),
}

/** Fields that the advice needs. */
export interface StuckAction {
  readonly bdb_uid: number | null
  readonly waiting: { readonly hold_reason: HoldReason | null } | null
  readonly orders: Readonly<Record<OrderName, { readonly ok: boolean }>>
  readonly lanes?: readonly { readonly handed_over: boolean }[]
}

/**
 * The next command for a stuck action, with a reason; null: none. Names only orders that the server would
 * accept. `name` is that of the database.
 */
export function nextCommand(
  action: StuckAction,
  name: string,
): { readonly command: string; readonly why: string } | null {
  const { waiting, orders, bdb_uid: uid, lanes = [] } = action
  const reason = waiting?.hold_reason ?? null
  // Only a rollback accepts a redo; it accepts a finalize only if nothing else ends it.
  const isDeadEnd = orders.redo.ok && orders.finalize.ok
  const known = isDeadEnd
    ? wayOutOfRollback
    : ((reason === null ? undefined : waysOut[reason]) ?? wayOutOfRest)
  if (known.order === null)
    return uid === null ? null : { command: `fairlead api GET /v1/bdbs/${uid}/shards`, why: known.why }
  const isMoved = lanes.some((lane) => lane.handed_over)
  // Before a handover both orders are equivalent, and the console offers this one.
  const wanted = known.order === 'rollback' && !isMoved ? 'cancel' : known.order
  const [order, why] = orders[wanted].ok ? [wanted, known.why] : (['retry', wayOutOfRest.why] as const)
  return orders[order].ok ? { command: `fairlead actions ${order} ${name}`, why } : null
}
