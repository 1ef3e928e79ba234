import { type Action, ApiError, type OrderName } from '@fairlead/api'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useAction, useDatabase } from '../../live/queries.ts'
import { type NotificationState, useNotice, useNotifications } from '../../live/use-notifications.ts'
import { OrderButton, type Refusals, useRefusals } from '../../parts/order-button.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer, Empty, Problem } from '../../parts/problem.tsx'
import { headlineOf, markOf, whatItDoes } from '../../words/describe-action.ts'
import { clockTime } from '../../words/format.ts'
import { countEvents, listEvents } from '../../words/list-events.ts'
import { buttonOf, orderNames } from '../../words/orders.ts'
import { Certificates } from './certificates.tsx'
import { Headline } from './headline.tsx'
import { Lanes } from './lanes.tsx'
import { SafetyCard } from './safety-card.tsx'

const above = { to: '/actions', label: 'Actions' }

/** An action, and its proofs afterwards. */
export function ActionPage({ uid }: { readonly uid: string }) {
  const action = useAction(uid)
  const { error, data } = action
  if (data === undefined && error instanceof ApiError && error.status === 404)
    return (
      <Page title="No such action" above={above}>
        <Empty title="There is no action with this number">{uid}</Empty>
      </Page>
    )
  if (data === undefined)
    return (
      <Page title="Action" above={above}>
        <Answer of={action} height={400}>
          {() => null}
        </Answer>
      </Page>
    )
  return <LiveAction action={data} />
}

function LiveAction({ action }: { readonly action: Action }) {
  const { bdb_uid: uid } = action
  const { data: database, isPending } = useDatabase(uid)
  // Orders are possible before the name is known: the database is identified anyway.
  const name = database?.name ?? (uid === null ? action.object_name : `database ${uid}`)
  const { certificates, lanes = [] } = action
  const refusals = useRefusals()
  return (
    <Page
      title={name}
      mark={markOf(action)}
      above={above}
      // Next to the name, which would move it by coming later.
      beside={(uid === null || !isPending) && <span className="does">{whatItDoes(action)}</span>}
      actions={
        <>
          <NotifyButton action={action} name={name} />
          <Orders action={action} refusals={refusals} />
        </>
      }
    >
      <LateRefusals action={action} refusals={refusals} />
      <Headline action={action} database={database} />
      {(action.phase === 'stuck' || action.warnings.length > 0) && <SafetyCard action={action} name={name} />}
      {action.phase === 'window' && <WindowCards action={action} refusals={refusals} />}
      {lanes.length > 0 && <Lanes action={action} />}
      {/* Before the growing certificates, which must not move anything below. */}
      <Events action={action} />
      {certificates.length > 0 && <Certificates action={action} databaseName={name} />}
    </Page>
  )
}

interface OrdersProps {
  readonly action: Action
  readonly refusals: Refusals
}

/** Refusals of orders whose buttons are gone, because another user was faster. */
function LateRefusals({ action, refusals }: OrdersProps) {
  const shown = [...ordersOf(action), ...(action.phase === 'window' ? ['rollback', 'finalize', 'pause'] : [])]
  return orderNames
    .filter((order) => !shown.includes(order))
    .map((order) => {
      const error = refusals.of[order]
      if (error === undefined) return null
      return (
        <div key={order}>
          <p className="muted">{buttonOf(order, action)}: refused</p>
          <Problem error={error} />
        </div>
      )
    })
}

function Orders({ action, refusals }: OrdersProps) {
  const [, go] = useLocation()
  const follow = ({ action_uid: uid }: Action) => {
    if (uid !== action.action_uid) go(`/actions/${uid}`)
  }
  return ordersOf(action).map((order) => (
    <OrderButton key={order} {...{ action, order, refusals }} isMain={order === 'resume'} onDone={follow} />
  ))
}

/** Orders that the server allows, or that only lack a permission, if they are useful here. */
function ordersOf(action: Action): readonly OrderName[] {
  return orderNames
    .filter((order) => action.orders[order].ok || action.orders[order].error_code === 'forbidden')
    .filter((order) => isUseful(order, action))
}

/** The two ways out of a window have separate cards. Before a handover, cancel and rollback are the same. */
function isUseful(order: OrderName, { phase, paused, orders, lanes = [] }: Action): boolean {
  // Also while it is stuck.
  const isTakenBack = phase === 'undoing' || orders.redo.ok
  const isMoved = lanes.some((lane) => lane.handed_over)
  if (order === 'redo') return isTakenBack
  if (isTakenBack && (order === 'rollback' || order === 'cancel')) return false
  if (phase === 'ended') return order === 'retry'
  if (phase === 'stuck') return order !== (isMoved ? 'cancel' : 'rollback')
  if (order === 'retry') return false
  // The cards of the window explain the effect of a pause.
  if (phase === 'window') return order === 'resume' && paused
  if (order === 'finalize') return isMoved && lanes.every((lane) => lane.handed_over)
  if (order === 'rollback') return isMoved
  return order !== 'cancel' || !isMoved
}

/** The two ways out of a window as equals, with their effects, and the way to hold open one with an end. */
function WindowCards({ action, refusals }: OrdersProps) {
  const { rollback, finalize, pause } = action.orders
  const isOpen = action.rollback_eligible !== false
  return (
    <div className="ways">
      <Card title={isOpen ? 'Go back, without loss' : 'There is no way back now'}>
        <p>{rollback.ok ? rollback.consequence : whyNot(action)}</p>
        <OrderButton action={action} order="rollback" refusals={refusals} />
      </Card>
      <Card title="Stay, and give up the way back">
        <p>{finalize.ok ? finalize.consequence : finalize.why}</p>
        <OrderButton action={action} order="finalize" refusals={refusals} />
      </Card>
      {/* If only a user ends the window, a pause would only delay that order. */}
      {action.window_ends !== null && pause.ok && (
        <div className="ways-pause">
          <OrderButton action={action} order="pause" refusals={refusals} />
          <p className="muted">{pause.consequence}</p>
        </div>
      )}
    </div>
  )
}

/** A missing permission is no fault of the way back. */
function whyNot({ orders: { rollback }, rollback_reason: reason }: Action): string {
  return rollback.error_code === 'forbidden' ? rollback.why : (reason ?? rollback.why)
}

/** The phases that may need a person, and the end. */
const telling: ReadonlySet<Action['phase']> = new Set(['ready', 'window', 'stuck', 'ended'])

/** Offers notifications in the background: the action is ready, stuck, in its window, or has ended. */
function NotifyButton({ action, name }: { readonly action: Action; readonly name: string }) {
  const { state, turnOn } = useNotifications()
  useNotice(telling.has(action.phase) ? `${name}: ${headlineOf(action)}` : null, state === 'on')
  if (action.phase === 'ended') return null
  const why = state === 'off' || state === 'on' ? null : reasons[state]
  return (
    <div className="notify">
      {why !== null && (
        <span className="hint" id="notify-why">
          {why}
        </span>
      )}
      <button
        type="button"
        className="button button-quiet"
        aria-disabled={state !== 'off'}
        aria-describedby={why === null ? undefined : 'notify-why'}
        onClick={state === 'off' ? turnOn : undefined}
      >
        {state === 'on' ? 'You will be notified' : 'Notify me'}
      </button>
    </div>
  )
}

/** Reasons for missing notifications; the button alone would only be grey. */
const reasons: Readonly<Record<Exclude<NotificationState, 'on' | 'off'>, string>> = {
  denied: 'The browser refuses notifications of this address',
  insecure: 'Browsers notify over HTTPS only',
  missing: 'This browser has no notifications',
}

/** More are useless to readers, and slow on a slow machine. */
const MOST = 200

/** Past events with their times. Drawn when opened. */
function Events({ action }: { readonly action: Action }) {
  const [isOpen, setOpen] = useState(false)
  const events = listEvents(action)
  return (
    <Card>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary data-key="e">
          <h2>{countEvents(events, action)}</h2>
        </summary>
        {isOpen && <EventLines action={action} />}
      </details>
    </Card>
  )
}

function EventLines({ action }: { readonly action: Action }) {
  const now = useNow()
  const hasGroups = (action.lanes?.length ?? 0) > 1
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <div className="events" role="log" aria-label="Events, the newest first" tabIndex={0}>
      <ol>
        {listEvents(action)
          .slice(0, MOST)
          .map(({ key, at, group, what, why }) => (
            <li key={key}>
              <time className="mono muted" dateTime={at} title={at}>
                {clockTime(at, now)}
              </time>
              <span>
                {hasGroups && group !== null && `Group ${group}: `}
                {what}
                {why !== '' && <span className="muted"> · {why}</span>}
              </span>
            </li>
          ))}
      </ol>
    </div>
  )
}
