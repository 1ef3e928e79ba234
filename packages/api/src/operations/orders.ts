import { Type } from 'typebox'
import type { ErrorCode } from '../contract/errors.ts'
import { operation } from '../contract/operation.ts'
import { Action, ActionUid } from './actions.ts'

/** An order to a running action. Our addition to the wider API. */
function order<const Name extends string>(name: Name, summary: string, errors: readonly ErrorCode[]) {
  return operation({
    method: 'POST',
    path: `/v1/actions/:uid/${name}` as const,
    summary,
    permission: 'update_bdb_with_action',
    params: Type.Object({ uid: ActionUid }),
    ok: Action,
    errors: ['action_not_exist', ...errors],
  })
}

/** POST …/pause: answers with the action; refuses if it has ended or is no upgrade. */
export const pauseAction = order(
  'pause',
  'Begin nothing new in an upgrade. Faults are still repaired, and a handover that has begun is completed',
  ['action_ended', 'order_not_applicable'],
)
/** POST …/resume: ends a pause, or lets a supervised upgrade pass its stop. */
export const resumeAction = order(
  'resume',
  'Continue after a pause, or after the stop of a supervised upgrade',
  ['action_ended', 'order_not_applicable'],
)
/** POST …/cancel: undoes an upgrade at any stage; `rollback_not_possible` if that would lose writes. */
export const cancelAction = order(
  'cancel',
  'Take an upgrade back at any point: before a handover everything begun is undone, afterwards it is rolled back',
  ['action_ended', 'order_not_applicable', 'rollback_not_possible'],
)
/** POST …/rollback: `rollback_not_possible` if old primaries lack writes; `order_not_applicable` if begun. */
export const rollbackAction = order(
  'rollback',
  'Hand the primary roles back to the old primaries, without loss',
  ['action_ended', 'order_not_applicable', 'rollback_not_possible'],
)
/** POST …/finalize: ends the rollback window early; no rollback without loss is possible afterwards. */
export const finalizeAction = order('finalize', 'End the rollback window: the old primaries are given up', [
  'action_ended',
  'order_not_applicable',
])
/**
 * POST …/redo: continues an upgrade during its rollback. Separate, so that a rollback sent twice stays one.
 */
export const redoAction = order('redo', 'Continue an upgrade that is being taken back', [
  'action_ended',
  'order_not_applicable',
])
/** POST …/retry: for a stuck or failed action. Answers with the continuing action, which may be new. */
export const retryAction = order(
  'retry',
  'Try the blocked step again immediately; for a failed upgrade: begin it again, as a new action',
  ['order_not_applicable', 'db_busy'],
)
