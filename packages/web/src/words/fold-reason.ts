/** A longer reason contains log lines of an engine. */
const LONG = 160

/** Splits a reason into the failure and the engine's lines about it. */
export function foldReason(why: string): { readonly first: string; readonly rest: readonly string[] } {
  const [first = '', ...rest] = why.length > LONG ? why.split('; ') : [why]
  return { first, rest }
}
