/**
 * Why so many more shards and endpoints would find no port on the node, in words; undefined when they would, as far as the record knows:
 * others may listen there too. `range` has both its ends; so many of it are `taken`.
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
