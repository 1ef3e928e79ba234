import type { Action } from '@fairlead/api'
import { nextCommand, type StuckAction } from '@fairlead/api/lean'

/** The next commands for an action, of which one is chosen. A window ends only without other trouble. */
export function nextOf(action: Pick<Action, 'phase'> & StuckAction, name: string): readonly string[] {
  const { phase, waiting, orders } = action
  const order = (verb: string) => `fairlead actions ${verb} ${name}`
  if (phase === 'ready' || phase === 'paused') return [order('resume')]
  if (phase === 'stuck') return [nextCommand(action, name)?.command ?? order('show')]
  const isSound = waiting?.hold_reason === 'rollback_window' || waiting?.hold_reason === 'until_finalized'
  if (phase !== 'window' || !isSound) return [order('show')]
  return [...(orders.rollback.ok ? [order('rollback')] : []), order('finalize')]
}
