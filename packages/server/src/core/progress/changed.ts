import type { Action, ActionNews } from '../state/action.ts'
import { phaseOf } from '../state/action-phase.ts'

/** Returns the action after these news at `at` (ISO 8601), with derived fields. */
export function changed(before: Action, { lanes: _, ...news }: ActionNews, at: string): Action {
  const after = { ...before, ...news }
  const hasEnded = after.status === 'done' || after.status === 'failed'
  return {
    ...after,
    phase: phaseOf(after, Date.parse(at)),
    beganAt: after.beganAt ?? (after.status === 'queued' ? null : at),
    endedAt: after.endedAt ?? (hasEnded ? at : null),
    changedAt: at,
  }
}

/** True if these news differ from what is on record. */
export function isNews(action: ActionNews, news: ActionNews): boolean {
  const keys = Object.keys(news) as (keyof ActionNews)[]
  return keys.some((key) => JSON.stringify(action[key]) !== JSON.stringify(news[key]))
}
