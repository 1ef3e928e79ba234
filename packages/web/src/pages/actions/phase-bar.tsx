import type { Certificate } from '@fairlead/api'
import { aboutMilliseconds } from '../../words/format.ts'
import type { Lengths } from '../../words/handover-lengths.ts'
import { placesOn, type Scale } from '../../words/handover-scale.ts'

interface PhaseBarProps {
  readonly phases: NonNullable<Certificate['phases']>
  /** The same in words. */
  readonly lengths: NonNullable<Lengths['parts']>
  /** Shared by all handovers of the page. */
  readonly scale: Scale
}

/** The parts of a handover on a scale, with numbers below. */
export function PhaseBar({ phases, lengths, scale }: PhaseBarProps) {
  const places = placesOn(scale, phases)
  return (
    <div className="phases">
      <div aria-hidden="true">
        <div className="phase-bar">
          {places.map(({ name, left, width }) => (
            <span key={name} data-part={name} style={{ left: `${left}%`, width: `${width}%` }} />
          ))}
        </div>
        <div className="phase-scale">
          {scale.ticks.map((ms) => (
            <span key={ms} style={{ left: `${(ms / scale.end) * 100}%` }}>
              {/* The unit appears once: otherwise numbers touch each other on a phone. */}
              {ms === scale.end ? aboutMilliseconds(ms) : Number(ms.toPrecision(3))}
            </span>
          ))}
        </div>
      </div>
      <ol className="phase-words">
        {places.map(({ name, words }) => (
          <li key={name} data-part={name}>
            <span className="phase-sign" aria-hidden="true" data-part={name} /> {words} <b>{lengths[name]}</b>
          </li>
        ))}
      </ol>
    </div>
  )
}
