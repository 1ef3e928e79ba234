import { type ReactNode, useState } from 'react'
import type { UpgradeChoice } from '../../live/upgrade-choice.ts'
import { sayChoice } from '../../live/upgrade-choice.ts'

interface ChoicesProps {
  readonly choice: UpgradeChoice
  /** Of which plan the answer stands below; null: of none yet. */
  readonly plan: string | null
  readonly children: ReactNode
}

/** What is chosen. On a phone it is one line as soon as there is a plan, which is what one looks for then. */
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
