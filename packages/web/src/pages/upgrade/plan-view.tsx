import { ApiError, type Database, type StepName, stepWords } from '@fairlead/api'
import type { UseMutationResult } from '@tanstack/react-query'
import { Fragment } from 'react'
import { useNow } from '../../live/clock.ts'
import { useIsStale } from '../../live/live-state.ts'
import type { UpgradeRequest } from '../../live/upgrade-choice.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Card } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { runsOf } from '../../words/describe-action.ts'
import { factsOf, foldLanes, type Plan, planAsMarkdown, trialOf } from '../../words/describe-plan.ts'
import { isShown } from '../../words/fold-steps.ts'
import { clockTime, duration, plural } from '../../words/format.ts'

/** Age after which a plan is outdated. */
const OLD_MS = 5 * 60_000

type Start = UseMutationResult<unknown, Error, { readonly body: UpgradeRequest; readonly basis: string }>
interface PlanProps {
  readonly database: Database
  /** The request of the dry run and the upgrade. */
  readonly request: UpgradeRequest
  readonly plan: Plan
  readonly at: string
  /** The choice has changed since. */
  readonly isOther: boolean
  readonly start: Start
  readonly again: () => void
}

/** The effects, the uncertainties, and the button. */
export function PlanView(props: PlanProps) {
  const { database, plan, at, request } = props
  const now = useNow()
  const title = `${database.name}: ${runsOf(database)} → ${runsOf(plan)}`
  const command = `curl -sS -X POST ${location.origin}/v1/bdbs/${database.uid}/upgrade -H "authorization: Bearer $token" -H 'content-type: application/json' -H 'if-match: "${plan.basis}"' -d '${JSON.stringify(request)}'`
  return (
    <Card
      className="plan"
      title={`Plan of ${clockTime(at, now)}`}
      beside={
        <span className="card-tools">
          <CopyButton text={() => planAsMarkdown(plan, title, at)} label="Copy as Markdown" />
          {plan.change && plan.possible && <CopyButton text={command} label="Copy as curl" />}
        </span>
      }
    >
      {plan.trial !== undefined && <Trial trial={plan.trial} />}
      {plan.obstacles.map(({ message }) => (
        <p key={message} className="trial" data-tone="bad">
          <Glyph name="failed" />
          <span>{message}</span>
        </p>
      ))}
      {plan.change && plan.trial?.ok !== false && (
        <>
          <dl className="plan-facts">
            {factsOf(plan).map(({ name, value, tone }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd data-tone={tone}>{value}</dd>
              </div>
            ))}
          </dl>
          {plan.unproven.length > 0 && <Unproven sentences={plan.unproven} />}
          <PlanLanes plan={plan} />
        </>
      )}
      <StartRow {...props} />
    </Card>
  )
}

function Trial({ trial }: { readonly trial: NonNullable<Plan['trial']> }) {
  return (
    <p className="trial" data-tone={trial.ok ? 'ok' : 'bad'}>
      <Glyph name={trial.ok ? 'done' : 'failed'} />
      <span>{trialOf(trial)}</span>
    </p>
  )
}

function Unproven({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <details className="unproven" open>
      <summary>Only the upgrade itself can show ({sentences.length})</summary>
      <ul>
        {sentences.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </details>
  )
}

function StartRow(props: PlanProps) {
  const { database, plan, at, isOther, start } = props
  const age = useNow() - Date.parse(at)
  if (!plan.change) return <p>There is nothing to do: {database.name} is like this already.</p>
  if (!plan.possible) return <Refused />
  const isOutdated = start.error instanceof ApiError && start.error.code === 'plan_outdated'
  if (isOther) return <Again why="Something else is chosen since this plan" {...props} />
  if (isOutdated)
    return <Again why="The database has changed since this plan: nothing was begun" {...props} />
  if (age > OLD_MS) return <Again why={`The plan is ${duration(age)} old`} {...props} />
  return <StartButton {...props} />
}

/** Explains that nothing can begin, and what to do. */
function Refused() {
  return (
    <>
      <p>Nothing was changed: the database is as it was before this dry run</p>
      <p>What to do: choose another version, or remove the cause, and make the dry run again</p>
    </>
  )
}

function Again({ why, again }: { readonly why: string; readonly again: () => void }) {
  return (
    <p className="run">
      <button type="button" className="button" onClick={again}>
        Dry run again
      </button>
      <span data-tone="wait">{why}</span>
    </p>
  )
}

function StartButton({ database, plan, request, start }: PlanProps) {
  const isStale = useIsStale()
  const isBusy = database.action_uid !== undefined
  const isAway = plan.outage_ms > 0
  const word = isAway ? `Restart in place: away for about ${duration(plan.outage_ms)}` : 'Start the upgrade'
  return (
    <div className="run">
      <button
        type="button"
        className={`button ${isAway ? 'button-bad' : 'button-main'}`}
        disabled={isBusy || isStale || start.isPending}
        onClick={() => start.mutate({ body: request, basis: plan.basis })}
      >
        {start.isPending ? 'Asked…' : word}
      </button>
      <span className="muted">
        {isBusy ? 'Another action runs on the database' : 'Begins only while this plan is still true'}
      </span>
      {start.error !== null && <Problem error={start.error} />}
    </div>
  )
}

type PlanLane = Plan['lanes'][number]

/**
 * The steps of each kind of group, with two lines: nothing old is touched before the first; there is no way
 * back after the second.
 */
function PlanLanes({ plan }: { readonly plan: Plan }) {
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
  const steps = lane.steps.filter(({ op_name }) => isShown(op_name as StepName))
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
