import { type Action, ApiError, type OrderName } from '@fairlead/api'
import { useLocation } from 'wouter'
import { useAction, useDatabase } from '../../live/queries.ts'
import { OrderButton, type Refusals, useRefusals } from '../../parts/order-button.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty, Problem } from '../../parts/problem.tsx'
import { markOf, whatItDoes } from '../../words/describe-action.ts'
import { buttonOf, orderNames } from '../../words/orders.ts'
import { Certificates } from './certificates.tsx'
import { Events } from './events.tsx'
import { Headline } from './headline.tsx'
import { Lanes } from './lanes.tsx'
import { NotifyButton } from './notify-button.tsx'
import { SafetyCard } from './safety-card.tsx'
import { WindowCards } from './window-cards.tsx'

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
