import { partsOf } from '../words/curve-of.ts'

interface SparklineProps {
  /** In equal steps of time. */
  readonly values: readonly (number | undefined)[]
  readonly label: string
}

const WIDTH = 160
const HEIGHT = 32

/** A small curve without axes, next to the last value. What was not measured is a gap. */
export function Sparkline({ values, label }: SparklineProps) {
  const top = Math.max(...values.map((value) => value ?? 0), 1)
  const step = WIDTH / Math.max(values.length - 1, 1)
  const y = (value: number) => HEIGHT - 2 - (value / top) * (HEIGHT - 4)
  const lines = partsOf(values).map((part) =>
    part.map(([place, value]) => `${(place * step).toFixed(1)} ${y(value).toFixed(1)}`),
  )
  // A line without length is a dot.
  const drawn = lines.map((line) => `M${line.join('L')}${line.length === 1 ? 'h0' : ''}`)
  const filled = lines.map(
    (line) => `M${xOf(line[0])} ${HEIGHT}L${line.join('L')}L${xOf(line.at(-1))} ${HEIGHT}z`,
  )
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className="sparkline-area" d={filled.join('')} />
      <path className="sparkline-line" d={drawn.join('')} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}

function xOf(point = ''): string {
  return point.split(' ')[0] ?? ''
}
