/** An error that may be an engine's redirect. `followRedirects` checks if it is true. */
export interface Redirect {
  /** `wait`: the slot has no serving primary now (CLUSTERDOWN, TRYAGAIN). */
  readonly kind: 'moved' | 'ask' | 'wait'
  /** The slot that it names; -1 for `wait`. Its address is not read, because a client may have forged it. */
  readonly slot: number
}

/**
 * Returns null if the error goes to the client unchanged. Scripts and functions can return any error, and a
 * command of a transaction cannot be sent alone (`isEngines` is false): for these only an error about their
 * slot is examined, and nothing is sent again. `text`: the error line without its first character; `slot`: of
 * the request's key, or -1.
 */
export function readRedirect(text: string, slot: number, isEngines: boolean): Redirect | null {
  if (isEngines && /^(CLUSTERDOWN|TRYAGAIN) /.test(text)) return { kind: 'wait', slot: -1 }
  const [, word, said] = /^(MOVED|ASK) (\d{1,5}) \S*:\d{1,5}\s*$/.exec(text) ?? []
  if (word === undefined || Number(said) > LAST_SLOT) return null
  const isItsOwn = Number(said) === slot
  return isItsOwn || isEngines ? { kind: word === 'MOVED' ? 'moved' : 'ask', slot: Number(said) } : null
}

const LAST_SLOT = 16_383

/** True for commands whose authors choose their replies: these can look like errors of the engine. */
export function runsScript(name: string): boolean {
  return scripts.has(name)
}

const scripts: ReadonlySet<string> = new Set([
  ...['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'],
  // Commands of a module.
  ...['TFCALL', 'TFCALLASYNC'],
])
