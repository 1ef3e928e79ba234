import type { Action } from '@fairlead/api'
import { OrderButton } from '../../parts/order-button.tsx'
import { Card } from '../../parts/page.tsx'

/** The two ways out of a window, as equals, each with what it does. */
export function WindowCards({ action }: { readonly action: Action }) {
  const { rollback, finalize } = action.orders
  const isOpen = action.rollback_eligible !== false
  return (
    <div className="ways">
      <Card title={isOpen ? 'Go back, without loss' : 'There is no way back now'}>
        <p>{rollback.ok ? rollback.consequence : (action.rollback_reason ?? rollback.why)}</p>
        <OrderButton action={action} order="rollback" />
      </Card>
      <Card title="Stay, and give up the way back">
        <p>{finalize.ok ? finalize.consequence : finalize.why}</p>
        <OrderButton action={action} order="finalize" />
      </Card>
    </div>
  )
}
