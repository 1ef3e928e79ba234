import type { Action } from '@fairlead/api'
import { nextCommand, type StuckAction } from '@fairlead/api/lean'

/** Names the command that leads on. While the database has another trouble, the way back is not given up. */
export function nextOf(action: Pick<Action, 'phase'> & StuckAction, name: string): string {
  const { phase, waiting } = action
  const show = `fairlead actions show ${name}`
  if (phase === 'ready' || phase === 'paused') return `fairlead actions resume ${name}`
  if (phase === 'stuck') return nextCommand(action, name)?.command ?? show
  return phase === 'window' && waiting?.hold_reason === 'rollback_window'
    ? `fairlead actions finalize ${name}`
    : show
}
