/** A reason longer than this has lines of the log of an engine in it. */
const LONG = 160

/** A reason in a list: what has failed, and by itself what the engine has written because of it. */
export function foldReason(why: string): { readonly first: string; readonly rest: readonly string[] } {
  const [first = '', ...rest] = why.length > LONG ? why.split('; ') : [why]
  return { first, rest }
}
