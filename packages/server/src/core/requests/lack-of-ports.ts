/**
 * Returns why the node has no free ports for this many more shards and endpoints; undefined if it has, as far
 * as recorded (other processes may listen, too). `range` includes both ends; `taken`: its recorded ports.
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
