import { type Certificate, sayLength } from '@fairlead/api'

/** From 1 ms to 1 s, by powers of ten. */
const marks = [1, 10, 100, 1_000]

/** All write stops of an action as dots on one scale. The certificates have the numbers. */
export function WriteStopStrip({ certificates }: { readonly certificates: readonly Certificate[] }) {
  const stops = certificates.flatMap(({ write_stop_ms: ms, to }) => (ms === null ? [] : [{ ms, to }]))
  if (stops.length === 0) return null
  const longest = Math.max(...stops.map(({ ms }) => ms))
  return (
    <figure className="strip">
      <svg role="img" aria-label={`${stops.length} write stops, the longest ${sayLength(longest)}`}>
        {marks.map((ms) => (
          <g key={ms}>
            <line x1={xOf(ms)} x2={xOf(ms)} y1="6" y2="44" className="strip-line" />
            <text x={xOf(ms)} y="60" textAnchor={ms === 1 ? 'start' : ms === 1_000 ? 'end' : 'middle'}>
              {ms === 1_000 ? '1 s' : `${ms} ms`}
            </text>
          </g>
        ))}
        {stops.map(({ ms, to }, n) => (
          <circle
            key={`${to} ${ms}`}
            cx={xOf(ms)}
            cy={14 + (n % 4) * 8}
            r="4"
            className="strip-dot"
            data-longest={ms === longest}
          />
        ))}
      </svg>
      <figcaption className="muted">
        Write stops of {stops.length} handovers; the longest {sayLength(longest)}
      </figcaption>
    </figure>
  )
}

/** Percent of the width, so that text and dots keep their size on a phone. */
function xOf(ms: number): string {
  return `${1 + (98 * Math.log10(Math.min(Math.max(ms, 1), 1_000))) / 3}%`
}
