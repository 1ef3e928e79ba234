import { type Address, isSameAddress } from './layout.ts'

/** The error because of which a connection looks for its primary. */
export interface Trouble {
  /** The address at which the connection got the error. */
  readonly at: Address
  /** Where the engine said the slot is, if it answered MOVED. */
  readonly moved: Address | null
}

/**
 * Which primary serves a slot according to the engines. It is used while the API names none, or an old one.
 */
export interface MovedHints {
  heard(slot: number, trouble: Trouble, nowMs: number): void
  /** The address to use when the API names `named`, or no primary (null). `isHint`: the engines named it. */
  settle(slot: number, named: Address | null, nowMs: number): { address: Address | null; isHint: boolean }
}

interface Hint {
  readonly address: Address
  /** When an engine first named this address. */
  readonly sinceMs: number
}

/**
 * A hint is followed when the API, which is under test, has contradicted it or was away for `apiMayLagMs`;
 * and forgotten when it proves wrong.
 */
export function createMovedHints(apiMayLagMs: number): MovedHints {
  const hints = new Map<number, Hint>()
  return {
    heard(slot, { at, moved }, nowMs) {
      const known = hints.get(slot)
      if (moved) {
        if (!known || !isSameAddress(known.address, moved))
          hints.set(slot, { address: moved, sinceMs: nowMs })
      } else if (known && isSameAddress(known.address, at)) hints.delete(slot)
    },
    settle(slot, named, nowMs) {
      const hint = hints.get(slot)
      if (hint && named && isSameAddress(hint.address, named)) hints.delete(slot)
      else if (hint && nowMs - hint.sinceMs > apiMayLagMs) return { address: hint.address, isHint: true }
      return { address: named, isHint: false }
    },
  }
}

/**
 * "MOVED 3999 127.0.0.1:7002" → that address; an empty host is the one that answered. Null for any other
 * error.
 */
export function movedTo(text: string, from: Address): Address | null {
  const [, host = '', port = ''] = /^MOVED \d+ (\S*):(\d+)$/.exec(text) ?? []
  return port === '' ? null : { host: host === '' || host === '?' ? from.host : host, port: Number(port) }
}
