/** A client that has not signed in, and perhaps need not. */
export interface UnauthenticatedClient {
  /** Endpoint and source address of the client. */
  readonly endpoint: string
  readonly source: string
  /** Called at its deadline. `in`: signed in. `unknown`: called again soon. */
  judge(): 'in' | 'out' | 'unknown'
  cut(why: string): void
}

/** Clients that have not signed in. */
export interface Strangers {
  readonly size: number
  add(key: object, stranger: UnauthenticatedClient): void
  /** Called when the client has signed in. */
  signIn(key: object): void
  /** Called when the client has left. */
  remove(key: object): void
  /** Closes the oldest stranger of an endpoint (null: any) from the source with the most. False if none. */
  makeRoom(endpoint: string | null): boolean
}

/** Time to sign in. Libraries sign in immediately. */
const LOGIN_WITHIN_MS = 10_000
const TOO_MANY = 'ERR max number of clients reached'

interface Crowd {
  readonly endpoint: string
  readonly members: Set<object>
}

function crowdOf({ endpoint, source }: UnauthenticatedClient): string {
  return `${endpoint} ${source}`
}

interface Entry {
  readonly stranger: UnauthenticatedClient
  timer: NodeJS.Timeout
}

/** Creates an empty set; each client has `loginWithinMs` to sign in. */
export function createStrangers(loginWithinMs = LOGIN_WITHIN_MS): Strangers {
  const late = `NOAUTH Authentication required: no login within ${loginWithinMs / 1_000} s`
  const entries = new Map<object, Entry>()
  /** Map from endpoint and source to clients, oldest first. */
  const crowds = new Map<string, Crowd>()

  const remove = (key: object): void => {
    const entry = entries.get(key)
    if (entry === undefined) return
    clearTimeout(entry.timer)
    entries.delete(key)
    const crowd = crowdOf(entry.stranger)
    const members = crowds.get(crowd)?.members
    members?.delete(key)
    if (members?.size === 0) crowds.delete(crowd)
  }
  const cut = (key: object, why: string): void => {
    const entry = entries.get(key)
    remove(key)
    entry?.stranger.cut(why)
  }
  const judge = (key: object): void => {
    const entry = entries.get(key)
    const verdict = entry?.stranger.judge()
    if (verdict === 'in') remove(key)
    else if (verdict === 'out') cut(key, late)
    else if (entry !== undefined) entry.timer = setTimeout(judge, loginWithinMs / 10, key).unref()
  }
  return {
    get size() {
      return entries.size
    },
    add(key, stranger) {
      entries.set(key, { stranger, timer: setTimeout(judge, loginWithinMs, key).unref() })
      const { endpoint } = stranger
      const members = crowds.get(crowdOf(stranger))?.members
      if (members === undefined) crowds.set(crowdOf(stranger), { endpoint, members: new Set([key]) })
      else members.add(key)
    },
    signIn: (key) => remove(key),
    remove: (key) => remove(key),
    makeRoom(endpoint) {
      let crowd: ReadonlySet<object> = new Set()
      for (const each of crowds.values())
        if (each.members.size > crowd.size && (endpoint === null || each.endpoint === endpoint))
          crowd = each.members
      const [oldest] = crowd
      if (oldest !== undefined) cut(oldest, TOO_MANY)
      return oldest !== undefined
    },
  }
}
