import type { Action, Database, LogEntry } from '@fairlead/api'
import { type Mark, markOf, runsOf } from './describe-action.ts'
import { markOfDatabase } from './describe-database.ts'
import { markOfLoss, whyOfLoss } from './describe-loss.ts'
import { countdown, deadline, elapsed } from './format.ts'

/** A window with an end needs a person in its last hour. */
const SOON_MS = 3_600_000
/** A window open for this long is easily forgotten. */
const FORGOTTEN_MS = 24 * 3_600_000
/** A failure is news for this long. */
const NEWS_MS = 7 * 24 * 3_600_000

/** Something that waits for a person. */
export interface Need {
  readonly key: string
  /** The page with its orders. */
  readonly to: string
  readonly name: string
  readonly mark: Mark
  /** The reason, the advice and the deadline. */
  readonly why: string
  /** Set for a possible loss, which a person takes off the list by having seen it. */
  readonly loss?: LossToSee
}

/** A possible loss: the uids of its database, and of its record of the audit. */
export interface LossToSee {
  readonly database: number
  readonly record: number
}

interface Known {
  readonly databases: readonly Database[]
  readonly actions: readonly Action[]
  /** Records of possible losses that no user has seen. */
  readonly losses: readonly LogEntry[]
  readonly nameOf: (action: Action) => string
}

/** Everything that needs a person, the most severe first. */
export function listNeeds({ databases, actions, losses, nameOf }: Known, now: number): readonly Need[] {
  const ill = databases.filter(({ status }) => status === 'recovery' || status === 'creation-failed')
  const ofDatabases = ill.map((database) => ({
    key: `database ${database.uid}`,
    to: `/databases/${database.uid}`,
    name: database.name,
    mark: markOfDatabase(database, now),
    why: database.status_reason,
  }))
  const open = actions.filter((action) => needsPerson(action, actions, now))
  const ofActions = open.map((action) => ({
    key: action.action_uid,
    to: `/actions/${action.action_uid}`,
    name: nameOf(action),
    // An open window is healthy, but a decision is awaited.
    mark: action.phase === 'window' ? { ...markOf(action), tone: 'wait' as const } : markOf(action),
    why: whyOf(action, now),
  }))
  const ofLosses = losses.flatMap((record) => {
    const database = databases.find(({ uid }) => String(uid) === record.bdb_uid)
    // With a deleted database, its loss is no news.
    if (database === undefined) return []
    const { uid, name } = database
    const words = {
      mark: markOfLoss(record),
      why: `${deadline(record.recorded_at, now)}: ${whyOfLoss(record)}`,
    }
    const loss = { database: uid, record: record.uid }
    return [{ key: `record ${record.uid}`, to: `/databases/${uid}`, name, ...words, loss }]
  })
  const order = ['bad', 'wait', 'busy', 'ok', 'quiet']
  return [...ofDatabases, ...ofLosses, ...ofActions].toSorted(
    (a, b) => order.indexOf(a.mark.tone) - order.indexOf(b.mark.tone),
  )
}

function needsPerson(action: Action, all: readonly Action[], now: number): boolean {
  const { phase, outcome, ended_time: ended, bdb_uid: uid } = action
  if (phase === 'stuck' || phase === 'ready' || phase === 'paused') return true
  if (phase === 'window') return isToDecide(action, now)
  if (outcome !== 'failed' || ended === null || now - Date.parse(ended) > NEWS_MS) return false
  // A later action of the same database replaces it.
  return all.find((other) => other.bdb_uid === uid) === action
}

/** Returns whether only a person ends it, it is about to end, or it may be forgotten. */
function isToDecide({ window_ends: ends, waiting }: Action, now: number): boolean {
  if (ends === null || Date.parse(ends) - now < SOON_MS) return true
  return waiting !== null && now - Date.parse(waiting.since) > FORGOTTEN_MS
}

function whyOf(action: Action, now: number): string {
  const { name, waiting, error, phase, outcome, window_ends: ends } = action
  if (phase === 'window' && ends !== null) {
    const left = countdown(Date.parse(ends) - now)
    return `The way back${backTo(action)} ends at ${deadline(ends, now)}, in ${left}: roll back before that, or do nothing to stay`
  }
  if (outcome === 'failed' && name === 'SMUpgradeBDB')
    return `The database is as it was before. The cause: ${error ?? 'not known'}`
  if (waiting === null) return error ?? ''
  const since = elapsed(now - Date.parse(waiting.since))
  if (phase === 'window')
    return `The way back${backTo(action)} has been open for ${since}, and stays open until a person decides: finalize to stay, or roll back`
  const until = waiting.until === null ? '' : `, until ${deadline(waiting.until, now)}`
  return `For ${since}${until}: ${waiting.why}`
}

function backTo({ from }: Action): string {
  return from === null ? '' : ` to ${runsOf(from)}`
}
