/** The middle value; the mean of two values in the middle; 0 without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = 0, high = low] = sorted.slice(
    Math.ceil(sorted.length / 2) - 1,
    Math.floor(sorted.length / 2) + 1,
  )
  return (low + high) / 2
}
