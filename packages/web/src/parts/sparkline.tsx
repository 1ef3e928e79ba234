interface SparklineProps {
  readonly values: readonly (number | undefined)[]
  readonly label: string
}

const WIDTH = 160
const HEIGHT = 32

/** A small curve without axes, next to the last value. */
export function Sparkline({ values, label }: SparklineProps) {
  const top = Math.max(...values.map((value) => value ?? 0), 1)
  const step = WIDTH / Math.max(values.length - 1, 1)
  const y = (value: number) => HEIGHT - 2 - (value / top) * (HEIGHT - 4)
  const points = values
    .map((value, n) => (value === undefined ? null : `${(n * step).toFixed(1)},${y(value).toFixed(1)}`))
    .filter((point) => point !== null)
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {points.length > 1 && (
        <>
          <polygon
            className="sparkline-area"
            points={`${points[0]?.split(',')[0]},${HEIGHT} ${points.join(' ')} ${points.at(-1)?.split(',')[0]},${HEIGHT}`}
          />
          <polyline points={points.join(' ')} vectorEffect="non-scaling-stroke" />
        </>
      )}
    </svg>
  )
}
