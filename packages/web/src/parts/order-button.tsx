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

/** An order that changes nothing that is seen, as a retry that meets the same obstacle, may be given again after this. */
const FORGOTTEN_MS = 10_000

interface OrderProps {
  readonly action: Action
  readonly order: OrderName
  readonly isMain?: boolean
  readonly refusals: Refusals
  /** Called with the action that goes on, which may be a new one. */
  readonly onDone?: (action: Action) => void
}

/** What the server has said against the orders of a page. The page keeps it: the button may be gone by then, because another user was faster. */
export interface Refusals {
  readonly of: Partial<Readonly<Record<OrderName, Error>>>
  /** null: it is given again. */
  note(order: OrderName, error: Error | null): void
}

/** None yet. */
export function useRefusals(): Refusals {
  const [of, set] = useState<Refusals['of']>({})
  const note = (order: OrderName, error: Error | null) =>
    set(({ [order]: _, ...others }) => (error === null ? others : { ...others, [order]: error }))
  return { of, note }
}

/**
 * One order. Whether it may be given is what the server says. Given, it says so until the action moves: the page never shows what it only hopes for.
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

/** Closes by itself when the same button comes to mean something else, as turning a rollback round. */
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

/** An order has been seen when this is another one. */
function placeOf({ phase, outcome, paused, orders }: Action): string {
  const open = Object.values(orders).map(({ ok }) => ok)
  return JSON.stringify([phase, outcome, paused, open])
}

const questions: Partial<Readonly<Record<OrderName, string>>> = {
  finalize: 'Finalize the upgrade?',
  cancel: 'Cancel the upgrade?',
}

/** The page behind the question is dimmed. */
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
  /** Why the order cannot be given any more; null: it can. */
  readonly why: string | null
  readonly onNo: () => void
  readonly onYes: () => void
}) {
  const { action, order, why, onNo, onYes } = props
  const reason = action.rollback_reason
  const look = order === 'finalize' ? 'button-bad' : 'button-main'
  const buttons = (
    <>
      {/* biome-ignore lint/a11y/noAutofocus: Enter must not give the order */}
      <button type="button" className="button" autoFocus onClick={onNo}>
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
