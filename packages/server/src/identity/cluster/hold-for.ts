/** Remembers an answer, and asks again `ms` after the last question. */
export function holdFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let held: { readonly answer: Promise<T>; readonly until: number } | undefined
  return () => {
    if (held === undefined || performance.now() > held.until)
      held = { answer: ask(), until: performance.now() + ms }
    return held.answer
  }
}
