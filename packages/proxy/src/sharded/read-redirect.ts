/** An error by which an engine may have sent a request elsewhere. What it is worth, `followRedirects` finds out. */
export interface Redirect {
  /** `wait`: the slot has no serving primary right now (CLUSTERDOWN, TRYAGAIN). */
  readonly kind: 'moved' | 'ask' | 'wait'
  /** That it speaks of; -1 of `wait`. Where it says that the slot is, is not read: nothing that is said here is an address. */
  readonly slot: number
}

/**
 * Null: the error is the client's, as it is. Scripts and functions can say any error by themselves, and what is in a transaction cannot
 * be asked alone (`isEngines` is false): of them only what speaks of their own slot is looked into, and nothing is asked again. `text`
 * is the line of the error, without the sign in front; `slot` that of the request's key, -1 without one.
 */
export function readRedirect(text: string, slot: number, isEngines: boolean): Redirect | null {
  if (isEngines && /^(CLUSTERDOWN|TRYAGAIN) /.test(text)) return { kind: 'wait', slot: -1 }
  const [, word, said] = /^(MOVED|ASK) (\d{1,5}) \S*:\d{1,5}\s*$/.exec(text) ?? []
  if (word === undefined || Number(said) > LAST_SLOT) return null
  const isItsOwn = Number(said) === slot
  return isItsOwn || isEngines ? { kind: word === 'MOVED' ? 'moved' : 'ask', slot: Number(said) } : null
}

const LAST_SLOT = 16_383

/** Commands whose replies are what their authors like: the errors of an engine cannot be told from theirs. */
export function runsScript(name: string): boolean {
  return scripts.has(name)
}

const scripts: ReadonlySet<string> = new Set([
  ...['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'],
  // Of a module.
  ...['TFCALL', 'TFCALLASYNC'],
])
