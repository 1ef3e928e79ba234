/** Unix ms with fraction: the same moment reads the same in every process of the machine, and it never runs back. */
export function nowUnixMs(): number {
  return performance.timeOrigin + performance.now()
}
