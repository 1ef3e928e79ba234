/** The value below which this part of the numbers is, with one decimal; 0 of none. */
export function shareOf(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return Number((sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(1))
}
