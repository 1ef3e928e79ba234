/** A signing key, with its times in Unix ms. */
export interface KeyTimes {
  readonly kid: string
  readonly createdMs: number
  /** When it began to sign; null: not yet. */
  readonly activeMs: number | null
  /** Since when it only verifies. */
  readonly retiredMs: number | null
}

/** One change of the keys. */
export type KeyStep =
  | { readonly kind: 'add'; readonly why: string }
  | { readonly kind: 'activate'; readonly kid: string; readonly why: string }
  | { readonly kind: 'retire'; readonly kid: string; readonly why: string }
  | { readonly kind: 'drop'; readonly kid: string; readonly why: string }

/** Longest life of a token, a day, plus the tolerance of clocks. */
const LIVES_AT_MOST_MS = (86_400 + 60) * 1000

/**
 * Stages of a key.
 * - next: published, so that verifying programs know it before its first token; signs nothing.
 * - active: signs, since the key before it was old enough (or a person asked).
 * - retired: verifies until the last token that it may have signed has expired. Then it is dropped.
 */
export function stageOf({ activeMs, retiredMs }: KeyTimes): 'next' | 'active' | 'retired' {
  if (retiredMs !== null) return 'retired'
  return activeMs === null ? 'next' : 'active'
}

/** Returns the changes that are due, so that one key signs and one is announced. */
export function planKeys(
  keys: readonly KeyTimes[],
  nowMs: number,
  rotateEveryMs: number,
): readonly KeyStep[] {
  const active = keys.find((key) => stageOf(key) === 'active')
  const ended = keys.filter(({ retiredMs }) => retiredMs !== null && nowMs >= retiredMs + LIVES_AT_MOST_MS)
  const isOld = active === undefined || nowMs >= (active.activeMs ?? 0) + rotateEveryMs
  const why = active === undefined ? 'no key signs' : 'the key before it is old enough'
  return [
    ...ended.map(({ kid }) => ({ kind: 'drop' as const, kid, why: 'no token of it lives' })),
    ...(announced(keys) === undefined
      ? [{ kind: 'add' as const, why: 'the next key is announced' }]
      : isOld
        ? change(keys, why)
        : []),
  ]
}

/**
 * Returns the changes for a rotation requested by a person. `dropAll`: all keys, even the announced one, may
 * be compromised: new ones are made, and all tokens become invalid.
 */
export function planRotation(keys: readonly KeyTimes[], dropAll: boolean): readonly KeyStep[] {
  const why = 'a person asked for it'
  return dropAll ? keys.map(({ kid }) => ({ kind: 'drop', kid, why })) : change(keys, why)
}

function change(keys: readonly KeyTimes[], why: string): readonly KeyStep[] {
  const next = announced(keys)
  if (next === undefined) return []
  const active = keys.filter((key) => stageOf(key) === 'active')
  return [
    ...active.map(({ kid }) => ({ kind: 'retire' as const, kid, why })),
    { kind: 'activate', kid: next.kid, why },
  ]
}

/** Returns the oldest announced key. */
function announced(keys: readonly KeyTimes[]): KeyTimes | undefined {
  return keys
    .filter((key) => stageOf(key) === 'next')
    .toSorted((a, b) => a.createdMs - b.createdMs || (a.kid < b.kid ? -1 : 1))[0]
}
