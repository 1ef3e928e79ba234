/** How clients reached a database before a change, for as long as it is still valid. `until`: ISO 8601. */
export type FormerAccess =
  | { readonly kind: 'place'; readonly port: number; readonly tls: boolean; readonly until: string }
  /** Its name in the proxy's Sentinel. */
  | { readonly kind: 'name'; readonly name: string; readonly until: string }

/** How clients reach a database: part of its record. */
export interface Access {
  readonly name: string
  readonly endpointPort: number | null
  readonly tls: boolean
  readonly former: readonly FormerAccess[]
}

/** For how long former access is valid unless a request says otherwise, in seconds. */
export const FORMER_SECONDS = 86_400

/** A former port without a client ends after this time. */
const QUIET_MS = 3_600_000

/** Use of a former port. */
export interface PlaceUse {
  readonly port: number
  readonly tls: boolean
  readonly connections: number
  readonly quietMs: number
}

/**
 * Returns what stays valid after a change. `seconds`: for what the change replaces; if it replaces nothing,
 * for what earlier changes replaced; undefined: usual, and earlier ones stay as they are.
 */
export function formerAfter(
  before: Access,
  after: Omit<Access, 'former'>,
  { seconds, now }: { readonly seconds: number | undefined; readonly now: number },
): readonly FormerAccess[] {
  const until = new Date(now + (seconds ?? FORMER_SECONDS) * 1_000).toISOString()
  const replaced = replacedBy(before, after, until)
  const present = accessOf(after, until)
  const kept = before.former.filter((one) => ![...present, ...replaced].some((other) => isSame(one, other)))
  const redated = replaced.length > 0 || seconds === undefined ? kept : kept.map((one) => ({ ...one, until }))
  return [...redated, ...replaced].filter((one) => Date.parse(one.until) > now)
}

/** Returns access of `before` that `after` does not have. */
function replacedBy(
  before: Omit<Access, 'former'>,
  after: Omit<Access, 'former'>,
  until: string,
): readonly FormerAccess[] {
  const present = accessOf(after, until)
  return accessOf(before, until).filter((one) => !present.some((other) => isSame(one, other)))
}

/** Returns the present access in the form of former ones. */
function accessOf({ name, endpointPort: port, tls }: Omit<Access, 'former'>, until: string): FormerAccess[] {
  return [
    ...(port === null ? [] : [{ kind: 'place', port, tls, until } as const]),
    { kind: 'name', name, until },
  ]
}

function isSame(one: FormerAccess, other: FormerAccess): boolean {
  if (one.kind === 'place') return other.kind === 'place' && one.port === other.port && one.tls === other.tls
  return other.kind === 'name' && one.name === other.name
}

/** Returns what is still valid: not over, and no port that has had no client for long. */
export function stillValid(
  former: readonly FormerAccess[],
  uses: readonly PlaceUse[],
  now: number,
): readonly FormerAccess[] {
  return former.filter((one) => {
    if (Date.parse(one.until) <= now) return false
    if (one.kind !== 'place') return true
    const use = uses.find(({ port, tls }) => port === one.port && tls === one.tls)
    return use === undefined || use.connections > 0 || use.quietMs < QUIET_MS
  })
}

/** Returns the ms until the next end; infinity without former access. */
export function nextEndMs(former: readonly FormerAccess[], now: number): number {
  return Math.max(
    0,
    Math.min(Number.POSITIVE_INFINITY, ...former.map(({ until }) => Date.parse(until) - now)),
  )
}

/** Describes former access for the audit, without secrets. */
export function describeFormer(former: readonly FormerAccess[]): string {
  return former
    .map((one) => {
      const what = one.kind === 'place' ? `port ${one.port}${one.tls ? ' with TLS' : ''}` : `name ${one.name}`
      return `${what} until ${one.until}`
    })
    .join(', ')
}
