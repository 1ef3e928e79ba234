import type { Action } from '@fairlead/api'
import { nextCommand, type StuckAction } from '@fairlead/api/lean'

/** The next command for an action. Suggests `finalize` only if the database has no other trouble. */
export function nextOf(action: Pick<Action, 'phase'> & StuckAction, name: string): string {
  const { phase, waiting } = action
  const show = `fairlead actions show ${name}`
  if (phase === 'ready' || phase === 'paused') return `fairlead actions resume ${name}`
  if (phase === 'stuck') return nextCommand(action, name)?.command ?? show
  return phase === 'window' && waiting?.hold_reason === 'rollback_window'
    ? `fairlead actions finalize ${name}`
    : show
}
