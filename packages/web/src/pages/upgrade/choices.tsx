import { type ReactNode, useState } from 'react'
import type { UpgradeChoice } from '../../live/upgrade-choice.ts'
import { sayChoice } from '../../live/upgrade-choice.ts'

interface ChoicesProps {
  readonly choice: UpgradeChoice
  /** Identifies the plan that is shown below; null: none yet. */
  readonly plan: string | null
  readonly children: ReactNode
}

/** The choices. On a phone they fold to one line once there is a plan. */
export function Choices({ choice, plan, children }: ChoicesProps) {
  const [openedFor, setOpenedFor] = useState<string | null>(null)
  return (
    <div className="choices" data-folded={plan !== null && openedFor !== plan}>
      <p className="choices-line">
        <span>{sayChoice(choice)}</span>
        <button type="button" className="button" onClick={() => setOpenedFor(plan)}>
          Change the choice
        </button>
      </p>
      <div className="choices-all">{children}</div>
    </div>
  )
}
