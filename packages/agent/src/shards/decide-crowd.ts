/** A connection to an engine, as CLIENT LIST and the kernel tell of it. */
export interface CrowdClient {
  /** The engine's own number for it. */
  readonly id: string
  readonly ageSecs: number
  /** It is of Fairlead: of the agent, the server, the proxy, or of another shard of the database. */
  readonly isOurs: boolean
  /** None of its commands was executed, so it has not signed in. */
  readonly isSilent: boolean
  /** It has a property that only a connection after login can have; a connection after login may lack it. */
  readonly hasSignedIn: boolean
  /** The user of this machine whose process it is; null: not known. */
  readonly uid: number | null
}

/** `cut`: the ids of the connections to end; `whose`: their users, with the number of connections of each. */
export interface CrowdVerdict {
  readonly cut: readonly string[]
  readonly whose: ReadonlyMap<number | null, number>
}

/** Above this part of `maxclients` connections are ended; the rest is room for new ones. */
const FULL = 0.8
/** As long as a client of the endpoint has to sign in. */
const LOGIN_WITHIN_SECS = 10
/** At a time: the engine goes through all of its connections for each. */
const MOST_CUTS = 2_000

/** Whether so many connections are close enough to `most`, the engine's `maxclients`, that strangers must go. */
export function isCrowded(connected: number, most: number): boolean {
  return connected > most * FULL
}

/**
 * Which connections to an engine are ended so that others find room: those that have not signed in for 10 s; then of the user of this
 * machine with the most, those that do not look signed in, until there is room. None while there is room, and never one of ours.
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

/** Of the user with the most of them; those that have not been heard first, and of them the oldest. */
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
