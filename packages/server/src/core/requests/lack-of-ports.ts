/**
 * Why this many more shards and endpoints would find no free ports on the node, as a sentence; undefined when they would, as far as the record knows:
 * other processes may listen there too. `range` includes both ends; `taken` is the number of its ports that are taken.
 */
export function lackOfPorts(
  needed: number,
  range: { readonly from: number; readonly to: number },
  taken: number,
): string | undefined {
  const { from, to } = range
  const free = to - from + 1 - taken
  if (free >= needed) return undefined
  return `${needed} port(s) are needed and ${free} of ${from} to ${to} are free (FAIRLEAD_PORT_RANGE)`
}
