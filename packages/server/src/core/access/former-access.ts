import { passwordDigest, passwordsMark } from '@fairlead/engine'

/** How clients reached a database before a change, for as long as it is still valid. `until`: ISO 8601. */
export type FormerAccess =
  | { readonly kind: 'place'; readonly port: number; readonly tls: boolean; readonly until: string }
  /** Its name in the proxy's Sentinel. */
  | { readonly kind: 'name'; readonly name: string; readonly until: string }
  /** A password of its user `default`: SHA-256 (hex), as engines keep it. */
  | { readonly kind: 'password'; readonly digest: string; readonly until: string }

/** How clients reach a database: part of its record. */
export interface Access {
  readonly name: string
  readonly endpointPort: number | null
  readonly tls: boolean
  readonly userPassword: string
  readonly former: readonly FormerAccess[]
}

/** For how long former access is valid unless a request says otherwise, in seconds. */
export const FORMER_SECONDS = 86_400

/** Agents and proxies take no more of a database. */
export const MOST_FORMER = 16

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
  const accessOf = (access: Omit<Access, 'former'>) => asFormer(access, until)
  const present = accessOf(after)
  const replaced = accessOf(before).filter((one) => !present.some((other) => isSame(one, other)))
  const kept = before.former.filter((one) => ![...present, ...replaced].some((other) => isSame(one, other)))
  const redated = replaced.length > 0 || seconds === undefined ? kept : kept.map((one) => ({ ...one, until }))
  return [...redated, ...replaced].filter((one) => Date.parse(one.until) > now)
}

/** Returns the present access in the form of former ones. */
function asFormer(
  { name, endpointPort: port, tls, userPassword }: Omit<Access, 'former'>,
  until: string,
): readonly FormerAccess[] {
  return [
    ...(port === null ? [] : [{ kind: 'place', port, tls, until } as const]),
    { kind: 'name', name, until },
    { kind: 'password', digest: passwordDigest(userPassword), until },
  ]
}

function isSame(one: FormerAccess, other: FormerAccess): boolean {
  const keyOf = ({ until: _, ...access }: FormerAccess) => JSON.stringify(access)
  return keyOf(one) === keyOf(other)
}

/** Returns the digests of former passwords that are still valid. */
export function formerPasswords(former: readonly FormerAccess[], now: number): readonly string[] {
  return stillValid(former, [], now).flatMap((one) => (one.kind === 'password' ? one.digest : []))
}

/** Returns the digests of all valid passwords of the database's user. */
export function validPasswords(
  { userPassword, former }: Pick<Access, 'userPassword' | 'former'>,
  now: number,
): readonly string[] {
  return [passwordDigest(userPassword), ...formerPasswords(former, now)]
}

/** True if the running processes of these shards take exactly these passwords, as their agents report. */
export function takeExactly(
  digests: readonly string[],
  shards: readonly { readonly process: string; readonly passwords?: string | null }[],
): boolean {
  const mark = passwordsMark(digests)
  return shards.every(({ process, passwords }) => process !== 'running' || passwords === mark)
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

/** What is over, and still on record, is tried again after this time. */
const AGAIN_MS = 1_000

/** Returns the ms until the next end, at least AGAIN_MS; infinity without former access. */
export function nextEndMs(former: readonly FormerAccess[], now: number): number {
  return Math.max(
    AGAIN_MS,
    Math.min(Number.POSITIVE_INFINITY, ...former.map(({ until }) => Date.parse(until) - now)),
  )
}

/** Describes former access for the audit, without secrets. */
export function describeFormer(former: readonly FormerAccess[]): string {
  return former.map((one) => `${describeOne(one)} until ${one.until}`).join(', ')
}

function describeOne(one: FormerAccess): string {
  if (one.kind === 'place') return `port ${one.port}${one.tls ? ' with TLS' : ''}`
  return one.kind === 'name' ? `name ${one.name}` : 'password'
}
