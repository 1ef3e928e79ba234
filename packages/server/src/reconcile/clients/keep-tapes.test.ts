import { ApiError, type HandoverTape } from '@fairlead/api'
import { expect, test } from 'vitest'
import { databaseOf } from '../../../test/records.ts'
import { shardedOf } from '../../../test/simulation/group.ts'
import { TAPED_FOR_MS } from '../../core/state/handover.ts'
import type { Lane } from '../../core/state/lane.ts'
import { ProxyUnreachable } from '../../nodes/proxy-link.ts'
import { createTurnMemory } from '../turn/turn-memory.ts'
import { keepTapes } from './keep-tapes.ts'

const database = databaseOf({ uid: 7, cluster: true })
const counts = { held: [0], errors: [0] }

/** Takes the tapes of three groups, turn after turn: each has handed over in `heldMs` so long ago. */
function keeper(answer: () => HandoverTape | null) {
  const asked: unknown[] = []
  const kept: (readonly [number, readonly number[]])[] = []
  const memory = createTurnMemory()
  const ports: Parameters<typeof keepTapes>[3] = {
    proxy: {
      readTape: async ({ query }) => {
        asked.push(query)
        return { tape: answer() }
      },
    },
    handovers: { keepTape: async (id, { replies }) => void kept.push([id, replies]) },
  }
  return {
    asked,
    kept,
    async turn(ageMs: number, lanes: readonly Lane[] = []) {
      const groups = shardedOf(3, 1).groups.map((group) => ({
        ...group,
        tapeDue: { handover: group.group + 1, heldMs: 5, ageMs },
      }))
      await keepTapes(database, { groups }, lanes, ports, memory)
    },
  }
}

const tapeOf = (...replies: number[]): HandoverTape => ({ leadMs: 2_500, heldMs: 5, replies, ...counts })
const movesAgain: Lane = {
  group: 0,
  verdict: { kind: 'do', step: { kind: 'hand-over', from: 1, to: 2, why: 'it goes back' } },
}

test('a tape is taken once, when it is complete', async () => {
  const { kept, asked, turn } = keeper(() => tapeOf(1))
  await turn(TAPED_FOR_MS - 1)
  expect(asked).toEqual([])
  await turn(TAPED_FOR_MS)
  await turn(TAPED_FOR_MS + 1_000)
  expect(kept).toEqual([
    [1, [1]],
    [2, [1]],
    [3, [1]],
  ])
})

test('a tape of another move is not kept, and a proxy that declines is not asked again', async () => {
  const { kept, asked, turn } = keeper(() => ({ ...tapeOf(1), heldMs: 6 }))
  await turn(TAPED_FOR_MS)
  await turn(TAPED_FOR_MS + 1)
  expect([kept, asked.length]).toEqual([[], 3])
  const older = keeper(() => {
    throw new ApiError(404, 'not_found', 'this proxy is older')
  })
  await older.turn(TAPED_FOR_MS)
  await older.turn(TAPED_FOR_MS + 1)
  expect(older.asked.length).toBe(3)
})

test('a proxy that hangs delays a turn by one question, however many groups have handed over, and is asked again in a later turn', async () => {
  let hangs = true
  const { kept, asked, turn } = keeper(() => {
    if (hangs) throw new ProxyUnreachable('no answer within 5 s')
    return tapeOf(1)
  })
  await turn(TAPED_FOR_MS)
  expect(asked.length).toBe(1)
  hangs = false
  await turn(TAPED_FOR_MS + 1_000)
  expect(kept.map(([id]) => id)).toEqual([1, 2, 3])
})

test('what is taken early, because the role is about to move again, is taken again when it is complete and the role has not moved', async () => {
  let replies = [1]
  const { kept, turn } = keeper(() => tapeOf(...replies))
  await turn(1_000, [movesAgain])
  expect(kept).toEqual([[1, [1]]])
  replies = [1, 2]
  await turn(TAPED_FOR_MS)
  expect(kept.filter(([id]) => id === 1)).toEqual([
    [1, [1]],
    [1, [1, 2]],
  ])
})
