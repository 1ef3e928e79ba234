const used = new Set<string>()

/** Notes what a unit test has tried to use although its tier has none. */
export function noteUsed(what: string): void {
  used.add(what)
}

/** What was noted since the last call. */
export function takeUsed(): readonly string[] {
  const found = [...used]
  used.clear()
  return found
}
