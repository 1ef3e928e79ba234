/**
 * Why so many more shards and endpoints would find no port on the node, in words; undefined when they would, as far as the record knows:
 * others may listen there too. `range` has both its ends.
 */
export function lackOfPorts(
  needed: number,
  range: { readonly from: number; readonly to: number },
  taken: readonly number[],
): string | undefined {
  const { from, to } = range
  const inRange = new Set(taken.filter((port) => port >= from && port <= to))
  const free = to - from + 1 - inRange.size
  if (free >= needed) return undefined
  return `${needed} port(s) are needed and ${free} of ${from} to ${to} are free (FAIRLEAD_PORT_RANGE)`
}
