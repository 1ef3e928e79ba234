import type { Action } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { Verdict } from '../../core/state/topology.ts'
import type { DatabaseRecords, Log } from '../turn/ports.ts'

/**
 * Records an obstacle that only a person can remove, if it has changed; the database shows it even without an
 * action. Late work is shown by its action, and by the database only if none runs.
 */
export async function noteObstacle(
  {
    database: { uid, obstacle },
    action,
  }: { readonly database: Database; readonly action: Action | undefined },
  lanes: readonly Lane[],
  { databases, log }: DatabaseRecords<'setObstacle'> & Log,
): Promise<void> {
  const stuck = lanes.map(({ verdict }) => obstacleIn(verdict, action)).find((why) => why !== undefined)
  const now = stuck ?? null
  if (now === obstacle) return
  // Its text may change each second, for example a duration.
  if (obstacle === null) log.error({ database: uid, obstacle: now }, 'a person has to decide')
  await databases.setObstacle(uid, now)
}

function obstacleIn(verdict: Verdict, action: Action | undefined): string | undefined {
  if (verdict.kind === 'stuck') return verdict.why
  return verdict.kind === 'do' && action === undefined ? verdict.late?.why : undefined
}
