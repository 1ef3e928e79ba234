import type { Database } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import type { DatabaseRecords, Log } from '../turn/ports.ts'

/** Records an obstacle that only a person can remove, if it has changed: the database shows it, also while no action runs. */
export async function noteObstacle(
  { uid, obstacle }: Database,
  lanes: readonly Lane[],
  { databases, log }: DatabaseRecords<'setObstacle'> & Log,
): Promise<void> {
  const stuck = lanes.find(({ verdict }) => verdict.kind === 'stuck')?.verdict
  const now = stuck?.kind === 'stuck' ? stuck.why : null
  if (now === obstacle) return
  if (now !== null) log.error({ database: uid, obstacle: now }, 'a person has to decide')
  await databases.setObstacle(uid, now)
}
