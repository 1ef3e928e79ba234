import type { Database } from '@fairlead/api'
import { parallels, type UpgradeChoice, windows } from '../../live/upgrade-choice.ts'
import { Card } from '../../parts/page.tsx'

interface OptionsProps {
  readonly database: Database
  readonly choice: UpgradeChoice
  readonly change: (change: Partial<UpgradeChoice>) => void
}

/** Options of the upgrade, without those that could lose data. */
export function Options(props: OptionsProps) {
  return (
    <Card title="How">
      <div className="options">
        <WayBack {...props} />
        <Checks {...props} />
        {props.database.shards_count > 1 && <Parallel {...props} />}
      </div>
    </Card>
  )
}

function WayBack({ choice, change }: OptionsProps) {
  return (
    <fieldset className="segments">
      <legend>Way back</legend>
      {windows.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name="window"
            checked={choice.window === value}
            onChange={() => change({ window: value })}
          />
          <span>{label}</span>
        </label>
      ))}
      <p className="hint">{windows.find(({ value }) => value === choice.window)?.cost}</p>
    </fieldset>
  )
}

const checks = [
  { name: 'supervised', label: 'Stop before the first handover, and wait for me' },
  { name: 'roles', label: 'Keep the roles of shards (one more handover)' },
  { name: 'modules', label: 'Upgrade modules to their newest versions, too' },
] as const

function Checks({ database, choice, change }: OptionsProps) {
  const shown = checks.filter(({ name }) => name !== 'modules' || database.module_list.length > 0)
  return (
    <div className="checks">
      {shown.map(({ name, label }) => (
        <label key={name} className="check">
          <input
            type="checkbox"
            checked={choice[name]}
            onChange={(event) => change({ [name]: event.target.checked })}
          />
          {label}
        </label>
      ))}
    </div>
  )
}

function Parallel({ choice, change }: OptionsProps) {
  return (
    <label>
      Shards at once
      <select value={choice.parallel} onChange={(event) => change({ parallel: event.target.value })}>
        {parallels.map((many) => (
          <option key={many} value={many}>
            {many === '' ? 'one in each group' : many}
          </option>
        ))}
      </select>
    </label>
  )
}
