import type { Action } from '@fairlead/api'
import { OrderButton, type Refusals } from '../../parts/order-button.tsx'
import { Card } from '../../parts/page.tsx'

/** The two ways out of a window as equals, with their effects, and the way to hold open one with an end. */
export function WindowCards({ action, refusals }: { readonly action: Action; readonly refusals: Refusals }) {
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
