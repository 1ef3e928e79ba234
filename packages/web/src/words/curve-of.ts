/** A measured interval. */
interface Interval {
  readonly stime: string
  readonly etime: string
}

/** The values of a series in equal steps of time: without data in a step, it has none. */
export function valuesOf<Point extends Interval>(
  series: readonly Point[],
  value: (point: Point) => number | undefined,
): readonly (number | undefined)[] {
  const [first, last] = [series[0], series.at(-1)]
  if (first === undefined || last === undefined) return []
  const begin = Date.parse(first.stime)
  const step = Math.max(Date.parse(first.etime) - begin, 1)
  const placeOf = ({ stime }: Interval) => Math.round((Date.parse(stime) - begin) / step)
  const values = Array.from<number | undefined>({ length: placeOf(last) + 1 })
  for (const point of series) values[placeOf(point)] = value(point)
  return values
}

/** The parts of a curve without a gap: places and values. No line may be drawn from one to the next. */
export function partsOf(
  values: readonly (number | undefined)[],
): readonly (readonly (readonly [place: number, value: number])[])[] {
  const parts: (readonly [number, number])[][] = []
  for (const [place, value] of values.entries()) {
    if (value === undefined) continue
    if (place === 0 || values[place - 1] === undefined) parts.push([])
    parts.at(-1)?.push([place, value])
  }
  return parts
}
