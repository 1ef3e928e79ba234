/** Reads a variable as an integer; `otherwise` if it is not set. `fault` ends the reading. */
export function readInteger(
  text: string | undefined,
  otherwise: number,
  { from, to }: { readonly from: number; readonly to: number },
  fault: (sentence: string) => never,
): number {
  if (text === undefined) return otherwise
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : fault(`must be a whole number from ${from} to ${to}`)
}

/** Reads two ports, as in 10000-10999 (the default). `fault` ends the reading. */
export function readRange(
  text: string | undefined,
  fault: (sentence: string) => never,
): { readonly from: number; readonly to: number } {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text ?? '10000-10999')
  const from = Number(match?.[1])
  const to = Number(match?.[2])
  const sound = match !== null && from >= 1024 && from <= to && to <= 65_535
  return sound ? { from, to } : fault('must be two ports from 1024 to 65535, as in 10000-10999')
}
