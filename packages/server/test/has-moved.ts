import { replicationOf } from '@fairlead/engine'
import { until } from '../../../proof/until.ts'
import type { MovedWithClients, MoveRefused } from '../src/reconcile/handover/move-role.ts'
import type { TestEngine } from './engine.ts'

interface Group {
  readonly primary: TestEngine
  readonly successor: TestEngine
}

/**
 * Whether a move of the role in cluster mode has succeeded. An old primary that gets no processor steps down
 * later than a server waits for that: the successor has taken over then, and a later turn lets writes go on.
 */
export async function hasMoved(
  { primary, successor }: Group,
  move: () => Promise<MovedWithClients | MoveRefused>,
): Promise<boolean> {
  const roleOf = async ({ admin }: TestEngine) => (await replicationOf(admin)).role
  try {
    const moved = await move()
    if ('why' in moved) await moved.remedy?.()
    return !('why' in moved)
  } catch (cause) {
    if ((await roleOf(successor)) !== 'primary') throw cause
  }
  await until('the old primary steps down', async () => (await roleOf(primary)) === 'replica')
  await primary.admin.call('CLIENT', 'UNPAUSE')
  return true
}
