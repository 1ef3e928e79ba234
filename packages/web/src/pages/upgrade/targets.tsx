import type { Database } from '@fairlead/api'
import { useEffect } from 'react'
import { useTargets } from '../../live/queries.ts'
import type { Target } from '../../live/upgrade-choice.ts'
import { Card } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { nameOfRuns, runsOf } from '../../words/describe-action.ts'
import { hintOf, sayHoles, type TargetHint } from '../../words/describe-target.ts'

interface TargetsProps {
  readonly database: Database
  readonly chosen: string
  readonly choose: (to: string) => void
}

/** Possible builds, and the obstacles of the others. */
export function Targets({ database, chosen, choose }: TargetsProps) {
  const targets = useTargets(database.uid)
  const all = targets.data ?? []
  const current = all.find((one) => one.current)
  const others = all.filter(({ current }) => !current)
  const first =
    others.find(({ possible, recommended }) => possible && recommended) ??
    // Where the present build is the best, a person has to choose.
    (current?.recommended === true ? undefined : others.find(({ possible }) => possible))
  const isChosen = chosen !== ''
  useEffect(() => {
    if (!isChosen && first !== undefined) choose(nameOfRuns(first))
  }, [isChosen, first, choose])
  return (
    <Card title="To">
      <Answer of={targets} height={96}>
        {() => (
          <div className="targets">
            {others
              .filter(({ possible }) => possible)
              .map((target) => (
                <Choice
                  key={nameOfRuns(target)}
                  {...{ chosen, choose, value: nameOfRuns(target) }}
                  label={runsOf(target)}
                  hint={hintOf(target)}
                />
              ))}
            <Choice
              {...{ chosen, choose, value: 'same' }}
              label={runsOf(database)}
              hint={{
                ...sayHoles(current?.known_holes ?? []),
                praise: `the same build, new processes${current?.recommended === true ? '; nothing better is here' : ''}`,
              }}
            />
            <Impossible targets={others.filter(({ possible }) => !possible)} />
          </div>
        )}
      </Answer>
    </Card>
  )
}

function Choice(props: {
  readonly value: string
  readonly chosen: string
  readonly choose: (to: string) => void
  readonly label: string
  readonly hint: TargetHint
}) {
  const { value, chosen, choose, label, hint } = props
  return (
    <label className="choice">
      <input
        type="radio"
        name="target"
        value={value}
        checked={chosen === value}
        onChange={() => choose(value)}
      />
      <span className="choice-name">{label}</span>
      <span className="choice-hint">
        {hint.praise !== '' && <span className="muted">{hint.praise}</span>}
        {hint.holes !== '' && <span data-tone={hint.tone}>{hint.holes}</span>}
      </span>
    </label>
  )
}

function Impossible({ targets }: { readonly targets: readonly Target[] }) {
  if (targets.length === 0) return null
  return (
    <ul className="impossible">
      {targets.map((target) => (
        <li key={nameOfRuns(target)}>
          <span aria-hidden="true">⊘</span> {runsOf(target)}
          <span className="muted"> {sayObstacles(target)}</span>
        </li>
      ))}
    </ul>
  )
}

/** Except another running change, which is shown once above. */
function sayObstacles({ obstacles }: Target): string {
  return obstacles
    .filter(({ error_code: code }) => code !== 'db_busy')
    .map(({ message }) => message)
    .join('; ')
}
