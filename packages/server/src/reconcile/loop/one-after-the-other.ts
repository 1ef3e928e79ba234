import { createTurns } from '@fairlead/engine'
import type { Moves } from '../turn/step-context.ts'
import type { Time } from '../turn/time.ts'

/**
 * Roles move one after the other, and a turn begins no further move after some time. While another group still prepares its handover, that group
 * waits for the end of the turn: then a turn spends as long on moves as on looking. Otherwise the turn goes on for longer, but ends, so that pauses,
 * cancels and other changes are noticed.
 */
export function oneAfterTheOther(
  lookedMs: number,
  isAll: boolean,
  { elapsed }: Pick<Time, 'elapsed'>,
): Moves {
  const now = elapsed()
  const deadline = now + (isAll ? MOVES_MS : lookedMs)
  const inTurn = createTurns()
  let moves = 0
  return {
    waitUntil: isAll ? deadline : now,
    inTurn: (move) =>
      inTurn(async () => {
        if (moves > 0 && elapsed() > deadline)
          return { kind: 'not yet', code: 'other_groups', why: 'other groups hand over first' }
        moves += 1
        return move()
      }),
  }
}

const MOVES_MS = 1_000
