import { type Static, Type } from 'typebox'
import { actionOutcomes, actionPhases } from '../contract/action-words.ts'

/** How it ended: docs/reference/actions.md; null while it runs. */
export const Outcome = Type.Union([
  Type.Enum(Object.keys(actionOutcomes) as ['completed', 'rolled_back', 'cancelled', 'failed']),
  Type.Null(),
])

/** The admissibility of an order for this user now, and its effect. */
export const OrderPreview = Type.Object({
  ok: Type.Boolean({ description: 'The order would be accepted' }),
  error_code: Type.Union([Type.String(), Type.Null()], { description: 'With which it would be refused' }),
  why: Type.String({ description: 'Why it would be refused, for people; empty when it would not' }),
  consequence: Type.String({ description: 'What then happens, for people; empty when it would be refused' }),
  leads_to: Type.Union([Type.Enum(Object.keys(actionPhases) as [keyof typeof actionPhases]), Type.Null()], {
    description: 'The phase right after the order; of a retry of a failed upgrade, that of the new action',
  }),
  outcome: Type.Union(Outcome.anyOf, {
    description:
      'How it would end, if nothing fails and no other order comes; null: it would not end by itself',
  }),
})
export type OrderPreview = Static<typeof OrderPreview>

/** All orders, for this user's permissions. */
export const OrderPreviews = Type.Object({
  pause: OrderPreview,
  resume: OrderPreview,
  cancel: OrderPreview,
  rollback: OrderPreview,
  finalize: OrderPreview,
  redo: OrderPreview,
  retry: OrderPreview,
})
