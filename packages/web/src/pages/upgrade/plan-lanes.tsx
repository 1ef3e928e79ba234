import { type StepName, stepWords } from '@fairlead/api'
import { Fragment } from 'react'
import { Glyph } from '../../parts/glyph.tsx'
import { foldLanes, type Plan } from '../../words/describe-plan.ts'
import { isTold } from '../../words/fold-steps.ts'
import { plural } from '../../words/format.ts'

type PlanLane = Plan['lanes'][number]

/**
 * The steps of each kind of group, with two lines: nothing old is touched before the first; there is no way
 * back after the second.
 */
export function PlanLanes({ plan }: { readonly plan: Plan }) {
  return (
    <div className="plan-lanes">
      {foldLanes(plan.lanes).map(({ lane, groups }) => (
        <section key={lane.group}>
          {plan.lanes.length > 1 && (
            <h3>
              {groups.length === 1
                ? `Group ${lane.group}`
                : `${plural(groups.length, 'group')} with the same steps`}
              {groups.length > 1 && <span className="muted"> shown: group {lane.group}</span>}
            </h3>
          )}
          <PlanSteps lane={lane} />
        </section>
      ))}
    </div>
  )
}

function PlanSteps({ lane }: { readonly lane: PlanLane }) {
  const steps = lane.steps.filter(({ op_name }) => isTold(op_name as StepName))
  const firstMove = steps.findIndex(({ op_name }) => op_name === 'hand-over')
  const lastMove = steps.findLastIndex(({ op_name }) => op_name === 'hand-over')
  const isKept = lane.way_back.until === 'time' || lane.way_back.until === 'finalized'
  return (
    <ol className="steps">
      {steps.map(({ op_name, shard, why }, n) => (
        <Fragment key={`${op_name} ${shard}`}>
          {n === firstMove && <li className="rule">until here nothing old is touched</li>}
          <li className="step" data-state="planned" data-op={op_name} title={why}>
            <Glyph name={op_name === 'hand-over' ? 'diamond-open' : 'planned'} />
            <span>
              {stepWords[op_name as StepName]?.label ?? op_name}{' '}
              <span className="muted">{shard.replace(' to ', ' → ')}</span>
            </span>
          </li>
          {n === lastMove && isKept && (
            <li className="rule">from here on only when the way back is given up</li>
          )}
        </Fragment>
      ))}
    </ol>
  )
}
