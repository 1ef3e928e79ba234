import type { OrderName, OrderPreview as PreviewAnswer } from '@fairlead/api'
import { may, type Principal } from '../../core/identity/access.ts'
import { type OrderPreview, previewOrders } from '../../core/requests/preview-orders.ts'
import type { ActionView } from '../../fleet/actions/actions-service.ts'

type PreviewsAnswer = Record<OrderName, PreviewAnswer>

/** The effect of each order, for this user. */
export function ordersToWire(
  { action, certificates, facts }: Extract<ActionView, { readonly of: 'database' }>,
  user: Principal,
): PreviewsAnswer {
  const isAllowed = may(user, 'update_bdb_with_action', action.databaseUid)
  const forbidden = isAllowed
    ? undefined
    : `it needs update_bdb_with_action for database ${action.databaseUid}`
  const handovers = certificates.flatMap(({ writeStopMs, waited }) =>
    writeStopMs === null ? [] : [{ writeStopMs, longestWaitMs: waited?.longestMs ?? null }],
  )
  return previewsToWire(previewOrders(action, { ...facts, handovers, forbidden }))
}

function previewsToWire(previews: Readonly<Record<OrderName, OrderPreview>>): PreviewsAnswer {
  const { pause, resume, cancel, rollback, finalize, redo, retry } = previews
  return {
    pause: toWire(pause),
    resume: toWire(resume),
    cancel: toWire(cancel),
    rollback: toWire(rollback),
    finalize: toWire(finalize),
    redo: toWire(redo),
    retry: toWire(retry),
  }
}

function toWire({ ok, code, why, consequence, leadsTo, outcome }: OrderPreview): PreviewAnswer {
  return { ok, error_code: code, why, consequence, leads_to: leadsTo, outcome }
}

const hasEnded: OrderPreview = {
  ok: false,
  code: 'action_ended',
  why: 'it has ended',
  consequence: '',
  leadsTo: null,
  outcome: null,
}

/** Previews of an action that was complete when recorded. */
export const noOrders = previewsToWire({
  pause: hasEnded,
  resume: hasEnded,
  cancel: hasEnded,
  rollback: hasEnded,
  finalize: hasEnded,
  redo: hasEnded,
  retry: hasEnded,
})
