import type { EffectRunner } from '@fairlead/engine'
import { isLastStandby, wayBackClosed } from '../../core/state/way-back.ts'
import type { Outcome } from '../turn/outcome.ts'
import type { ActionRecords, Clock } from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'

/** Ports for giving up a shard that may be the way back. */
export type GivingUpPorts = ActionRecords<'closeWayBack'> & EffectRunner & Clock

/**
 * Called before a shard is retired or restarted on another revision. If it is the last standby of its group,
 * no rollback is accepted afterwards; one accepted since the look is the outcome of the step. Undefined: the
 * shard may be given up.
 */
export async function whyKept(
  { shard: id, why: reason }: { readonly shard: number; readonly why: string },
  { seen, action, ports }: Pick<StepContext<GivingUpPorts>, 'seen' | 'action' | 'ports'>,
): Promise<Outcome | undefined> {
  if (action === undefined || !isLastStandby(id, seen, action.goal)) return undefined
  const why = `shard ${id}, the last standby of its group, is given up: ${reason}`
  const at = new Date(ports.now()).toISOString()
  const isClosed = await ports.effect('close-way-back', () =>
    ports.actions.closeWayBack(action, wayBackClosed('standby_gone', why), at),
  )
  if (isClosed) return undefined
  return {
    kind: 'not yet',
    code: 'taken_back',
    why: `shard ${id} stays: the upgrade is taken back`,
    afterMs: 0,
  }
}
