import { setTimeout as pause } from 'node:timers/promises'

/** Asks again every 20 ms until `check` gives something true, and returns it. Throws when it does not in time. */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false | null>,
  { withinMs = 15_000 }: { readonly withinMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await check()
    if (found !== undefined && found !== false && found !== null) return found
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await pause(20)
  }
}
