import type { Action } from '@fairlead/api'
import type { Context } from '../../link/open-context.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { followAction } from './follow-action.ts'

/**
 * Waits for an action's end, and returns it. Throws CommandFault if it failed (`failed` describes the
 * result), and on Ctrl-C, which ends only the wait.
 */
export async function waitForEnd(context: Context, uid: string, failed: string): Promise<Action> {
  const link = await context.link()
  const { action, stopped } = await followAction(link, uid, {
    wait: 'finalized',
    gone: context.terminal.gone,
  })
  const next = `look again: fairlead actions watch ${uid}`
  if (stopped === 'interrupted' || stopped === 'terminated')
    throw new CommandFault(stopped, `It goes on without you (action ${uid}).`, { next })
  if (action.outcome === 'failed')
    throw new CommandFault('failed', `${failed}: ${action.error ?? action.waiting_for}`)
  return action
}
