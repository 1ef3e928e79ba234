import type { Action, OrderName } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../live/api.ts'
import { keys } from '../live/keys.ts'
import { useIsStale } from '../live/live-state.ts'
import { useDatabase } from '../live/queries.ts'
import { useOrder } from '../live/use-order.ts'
import { whatItDoes } from '../words/describe-action.ts'
import { buttonOf, isAskedAbout, wayOutOf } from '../words/orders.ts'
import { Dialog } from './dialog.tsx'
import { Problem } from './problem.tsx'

const calls = {
  pause: api.pauseAction,
  resume: api.resumeAction,
  cancel: api.cancelAction,
  rollback: api.rollbackAction,
  finalize: api.finalizeAction,
  redo: api.redoAction,
  retry: api.retryAction,
} as const

/** Time after which an order without visible effect, like a retry with the same obstacle, may be repeated. */
const FORGOTTEN_MS = 10_000

interface OrderProps {
  readonly action: Action
  readonly order: OrderName
  readonly isMain?: boolean
  readonly refusals: Refusals
  /** Called with the continuing action, which may be new. */
  readonly onDone?: (action: Action) => void
}

/** Refusals of a page's orders. The page keeps them: another user may have been faster. */
export interface Refusals {
  readonly of: Partial<Readonly<Record<OrderName, Error>>>
  /** null: given again. */
  note(order: OrderName, error: Error | null): void
}

/** No refusals. */
export function useRefusals(): Refusals {
  const [of, set] = useState<Refusals['of']>({})
  const note = (order: OrderName, error: Error | null) =>
    set(({ [order]: _, ...others }) => (error === null ? others : { ...others, [order]: error }))
  return { of, note }
}

/**
 * A button for one order, if the server allows it. Shows a given order as pending until the action changes:
 * the page never shows mere hopes.
 */
export function OrderButton(props: OrderProps) {
  const { action, order, isMain = false } = props
  const { send, error, isAsked } = useActionOrder(props)
  const isStale = useIsStale()
  const { ok, why } = action.orders[order]
  const label = buttonOf(order, action)
  const isOff = !ok || isStale || isAsked
  const question = useQuestion(label)
  const reason = isStale ? 'The console cannot see the server' : why
  const press = () => {
    if (!isOff) (isAskedAbout(order, action) ? question.open : send)()
  }
  return (
    <div className="order">
      <button
        type="button"
        className={`button ${isMain ? 'button-main' : ''}`}
        aria-disabled={isOff}
        title={isOff && reason !== '' ? reason : undefined}
        onClick={press}
      >
        {isAsked ? 'Asked…' : label}
      </button>
      {error !== undefined && <Problem error={error} />}
      {question.isOpen && (
        <Confirm
          action={action}
          order={order}
          why={isOff ? reason : null}
          onNo={question.close}
          onYes={() => {
            question.close()
            send()
          }}
        />
      )}
    </div>
  )
}

/** Closes automatically when the button's meaning changes, like after a rollback was reversed. */
function useQuestion(label: string) {
  const [askedFor, askFor] = useState<string | null>(null)
  if (askedFor !== null && askedFor !== label) askFor(null)
  return { isOpen: askedFor === label, open: () => askFor(label), close: () => askFor(null) }
}

function useActionOrder({ action, order, refusals, onDone }: OrderProps) {
  const client = useQueryClient()
  const [askedAt, setAskedAt] = useState<string | null>(null)
  const place = placeOf(action)
  const give = useOrder({
    mutationFn: () => calls[order]({ params: { uid: action.action_uid } }),
    onMutate: () => {
      setAskedAt(place)
      refusals.note(order, null)
    },
    onError: (error) => {
      setAskedAt(null)
      refusals.note(order, error)
    },
    onSuccess: (answer) => {
      onDone?.(answer)
      setTimeout(() => setAskedAt(null), FORGOTTEN_MS)
    },
    onSettled: () => void client.invalidateQueries({ queryKey: keys.action(action.action_uid) }),
  })
  return { send: () => give.mutate(), error: refusals.of[order], isAsked: askedAt === place }
}

/** A change means that the order has been seen. */
function placeOf({ phase, outcome, paused, orders }: Action): string {
  const open = Object.values(orders).map(({ ok }) => ok)
  return JSON.stringify([phase, outcome, paused, open])
}

const questions: Partial<Readonly<Record<OrderName, string>>> = {
  finalize: 'Finalize the upgrade?',
  cancel: 'Cancel the upgrade?',
}

/** Needed because the page behind the question is dimmed. */
function About({ action }: { readonly action: Action }) {
  const { bdb_uid: uid, object_name: object } = action
  const { data: database } = useDatabase(uid)
  return (
    <p className="about">
      <strong>{database?.name ?? (uid === null ? object : `database ${uid}`)}</strong>, {whatItDoes(action)}
    </p>
  )
}

function Confirm(props: {
  readonly action: Action
  readonly order: OrderName
  /** The reason if the order is impossible now; null: it is possible. */
  readonly why: string | null
  readonly onNo: () => void
  readonly onYes: () => void
}) {
  const { action, order, why, onNo, onYes } = props
  const reason = action.rollback_reason
  const look = order === 'finalize' ? 'button-bad' : ''
  const buttons = (
    <>
      {/* biome-ignore lint/a11y/noAutofocus: Enter must not give the order */}
      <button type="button" className="button button-main" autoFocus onClick={onNo}>
        {wayOutOf(order)}
      </button>
      <button type="button" className={`button ${look}`} disabled={why !== null} onClick={onYes}>
        {buttonOf(order, action)}
      </button>
    </>
  )
  return (
    <Dialog title={questions[order] ?? `${buttonOf(order, action)}?`} onClose={onNo} buttons={buttons}>
      <About action={action} />
      <p>{why ?? action.orders[order].consequence}</p>
      {order === 'finalize' && reason !== undefined && (
        <p className="muted">Now: {reason}. Afterwards there is no way back.</p>
      )}
    </Dialog>
  )
}
