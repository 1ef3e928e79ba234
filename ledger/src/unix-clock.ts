/**
 * Unix ms with fraction: all processes of the machine read the same value at the same moment, and it never
 * decreases.
 */
export function nowUnixMs(): number {
  return performance.timeOrigin + performance.now()
}
