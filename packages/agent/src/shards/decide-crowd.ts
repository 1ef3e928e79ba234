/** A connection to an engine, from CLIENT LIST and the kernel. */
export interface CrowdClient {
  /** The engine's number of it. */
  readonly id: string
  readonly ageSecs: number
  /** True if it is Fairlead's: of the agent, the server, the proxy, or of another shard of the database. */
  readonly isOurs: boolean
  /** True if none of its commands was executed, so it has not signed in. */
  readonly isSilent: boolean
  /** True if it has a property that requires a login; it may also have signed in without one. */
  readonly hasSignedIn: boolean
  /** User of its process on this machine; null if unknown. */
  readonly uid: number | null
}

/** `cut`: ids of the connections to end; `whose`: their users, with numbers of connections. */
export interface CrowdVerdict {
  readonly cut: readonly string[]
  readonly whose: ReadonlyMap<number | null, number>
}

/** Above this part of `maxclients` connections are ended; the rest is for new ones. */
const FULL = 0.8
/** The endpoint's time limit for a login. */
const LOGIN_WITHIN_SECS = 10
/** Limit per look: the engine searches all its connections for each. */
const MOST_CUTS = 2_000

/** True if `connected` is so close to `most`, the engine's `maxclients`, that others must be ended. */
export function isCrowded(connected: number, most: number): boolean {
  return connected > most * FULL
}

/**
 * Chooses connections to end while an engine is crowded: first those without a login for 10 s; then those of
 * the machine's user with the most that seem not signed in, until there is space. Never one of ours.
 */
export function decideCrowd(clients: readonly CrowdClient[], most: number): CrowdVerdict {
  if (!isCrowded(clients.length, most)) return verdictOf([])
  const others = clients.filter(({ isOurs, hasSignedIn }) => !isOurs && !hasSignedIn)
  const late = others.filter(({ isSilent, ageSecs }) => isSilent && ageSecs >= LOGIN_WITHIN_SECS)
  const tooMany = clients.length - late.length - Math.floor(most * FULL)
  if (tooMany <= 0) return verdictOf(late)
  const isLate = new Set(late)
  const rest = others.filter((each) => each.uid !== null && !isLate.has(each))
  return verdictOf([...late, ...largestOf(rest).slice(0, tooMany)])
}

/** Returns the connections of the user with the most, first the silent ones, and of them the oldest. */
function largestOf(clients: readonly CrowdClient[]): readonly CrowdClient[] {
  const groups = [...Map.groupBy(clients, ({ uid }) => uid).values()]
  const [largest = []] = groups.toSorted((a, b) => b.length - a.length)
  return largest.toSorted((a, b) => Number(b.isSilent) - Number(a.isSilent) || b.ageSecs - a.ageSecs)
}

function verdictOf(clients: readonly CrowdClient[]): CrowdVerdict {
  const cut = clients.slice(0, MOST_CUTS)
  const groups = Map.groupBy(cut, ({ uid }) => uid)
  return {
    cut: cut.map(({ id }) => id),
    whose: new Map([...groups].map(([uid, { length }]) => [uid, length])),
  }
}
