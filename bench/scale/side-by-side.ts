/** Does `work` for 0 to `count` - 1, as many at once as are under way at any time: each begins when one before it has ended. */
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
