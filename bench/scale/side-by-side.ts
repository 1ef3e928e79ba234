/**
 * Does `work` for 0 to `count` - 1, `atOnce` at a time: each further one begins when an earlier one has
 * ended.
 */
export async function sideBySide(
  count: number,
  atOnce: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let n = next++; n < count; n = next++) await work(n)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
