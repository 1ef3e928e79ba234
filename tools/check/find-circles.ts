/**
 * The circles among `places`, each once: places that lead to each other by `next`, and a place that leads to
 * itself. Tarjan's algorithm.
 */
export function findCircles(
  places: readonly string[],
  next: (place: string) => readonly string[],
): readonly (readonly string[])[] {
  const visits = new Map<string, { readonly at: number; low: number; open: boolean }>()
  const path: string[] = []
  const circles: string[][] = []
  const visit = (place: string) => {
    const here = { at: visits.size, low: visits.size, open: true }
    visits.set(place, here)
    path.push(place)
    const ways = next(place)
    for (const way of ways) {
      const there = visits.get(way) ?? visit(way)
      if (there.open) here.low = Math.min(here.low, there.low)
    }
    if (here.low === here.at) {
      const circle = path.splice(path.indexOf(place))
      for (const each of circle) visits.set(each, { at: 0, low: 0, open: false })
      if (circle.length > 1 || ways.includes(place)) circles.push(circle)
    }
    return here
  }
  for (const place of places) if (!visits.has(place)) visit(place)
  return circles
}
