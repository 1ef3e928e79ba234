import type { Certificate } from '@fairlead/api'
import { milliseconds } from '../../words/format.ts'

const parts = [
  ['hold', 'open answers given'],
  ['pause', 'writes paused'],
  ['equal', 'replicas equal'],
  ['promote', 'promoted'],
  ['release', 'clients let go'],
] as const

/** The milliseconds of a handover, part by part. The same as numbers below it. */
export function PhaseBar({ phases }: { readonly phases: NonNullable<Certificate['phases']> }) {
  const sum = parts.reduce((all, [name]) => all + phases[name], 0)
  return (
    <div className="phases">
      <div className="phase-bar" aria-hidden="true">
        {parts.map(([name]) => (
          <span
            key={name}
            data-part={name}
            style={{ flexGrow: Math.max(phases[name] / Math.max(sum, 0.01), 0.005) }}
          />
        ))}
      </div>
      <ol className="phase-words">
        {parts.map(([name, words]) => (
          <li key={name} data-part={name}>
            <span className="phase-sign" aria-hidden="true" data-part={name} /> {words}{' '}
            <b>{milliseconds(phases[name])}</b>
          </li>
        ))}
      </ol>
    </div>
  )
}
