import { isNews } from '../../core/progress/changed.ts'
import { since, waitsFor } from '../../core/progress/wait-of.ts'
import { UPGRADES_AT_ONCE, whyNotAdmitted } from '../../core/requests/admit-upgrade.ts'
import type { Action } from '../../core/state/action.ts'
import type { Waiting } from '../../core/state/lane-record.ts'
import type { ActionRecords, Clock } from '../turn/ports.ts'

/**
 * Returns the ms until the next check if other upgrades come first; undefined if it is this action's turn.
 * Notes the reason in the action.
 */
export async function hasToWait(
  action: Action,
  ports: ActionRecords<'listActive' | 'update'> & Clock,
): Promise<number | undefined> {
  if (action.status !== 'queued') return undefined
  const obstacle = whyNotAdmitted(action, await ports.actions.listActive(action.uid))
  if (obstacle === undefined) return undefined
  const { code, why } = obstacle
  await noteWait(action, { shard: null, until: null, stuck: false, on: 'capacity', code, why }, ports)
  // The first few in the queue check often; a thousand others must not slow down the running ones.
  return Math.min(QUEUED_MS.most, QUEUED_MS.least * Math.ceil(obstacle.places / UPGRADES_AT_ONCE))
}

const QUEUED_MS = { least: 500, most: 10_000 }

/** Notes an external error that ended this turn; it is retried. `lasts`: a person should look. */
export async function recordPassFailure(
  action: Action,
  why: string,
  lasts: boolean,
  ports: ActionRecords<'update'> & Clock,
): Promise<void> {
  const trouble: Waiting = {
    shard: null,
    until: null,
    stuck: lasts,
    on: lasts ? 'person' : 'time',
    code: 'trouble',
    why: `it failed and is tried again: ${why}`,
  }
  await noteWait(action, trouble, ports, lasts)
}

/** Notes a wait of the whole action. */
async function noteWait(
  action: Action,
  wait: Waiting,
  ports: ActionRecords<'update'> & Clock,
  needsPerson = false,
): Promise<void> {
  const at = new Date(ports.now()).toISOString()
  const waiting = since(wait, action.waiting, at)
  const news = { ...waitsFor(wait), waiting, ...(needsPerson && { needsPerson }) }
  if (isNews(action, news)) await ports.actions.update(action.uid, news, at)
}
