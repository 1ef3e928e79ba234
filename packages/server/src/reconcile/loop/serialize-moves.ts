import { createMutex } from '@fairlead/engine'
import type { HandoverQueue } from '../turn/step-context.ts'
import type { Time } from '../turn/time.ts'

/**
 * Serializes role moves; a turn starts no new move after its deadline, so that it ends and pauses, cancels
 * and other changes are noticed. While a group still prepares its handover, the deadline is the duration of
 * the look; otherwise it is MOVES_MS.
 */
export function serializeMoves(
  lookedMs: number,
  isAll: boolean,
  { elapsed }: Pick<Time, 'elapsed'>,
): HandoverQueue {
  const now = elapsed()
  const deadline = now + (isAll ? MOVES_MS : lookedMs)
  const runExclusive = createMutex()
  let moves = 0
  return {
    waitUntil: isAll ? deadline : now,
    runExclusive: (move) =>
      runExclusive(async () => {
        if (moves > 0 && elapsed() > deadline)
          return { kind: 'not yet', code: 'other_groups', why: 'other groups hand over first' }
        moves += 1
        return move()
      }),
  }
}

const MOVES_MS = 1_000
