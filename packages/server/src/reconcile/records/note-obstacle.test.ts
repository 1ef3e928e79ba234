import { expect, test } from 'vitest'
import type { Lane } from '../../core/state/lane.ts'
import { noteObstacle } from './note-obstacle.ts'

type Known = Parameters<typeof noteObstacle>[0]

test('an obstacle whose words change each second is logged once, and recorded each time', async () => {
  const logged: unknown[] = []
  const recorded: (string | null)[] = []
  const ports = {
    log: { error: (details: unknown) => logged.push(details) },
    databases: { setObstacle: async (_: number, why: string | null) => void recorded.push(why) },
  } as unknown as Parameters<typeof noteObstacle>[2]
  const stuck = (why: string) =>
    [{ verdict: { kind: 'stuck', code: 'shard_hung', why } }] as unknown as Lane[]
  const note = (before: string | null, lanes: readonly Lane[]) =>
    noteObstacle({ database: { uid: 1, obstacle: before }, action: undefined } as Known, lanes, ports)
  await note(null, stuck('silent for 1 s'))
  await note('silent for 1 s', stuck('silent for 2 s'))
  await note('silent for 2 s', stuck('silent for 2 s'))
  await note('silent for 2 s', [])
  expect(recorded).toEqual(['silent for 1 s', 'silent for 2 s', null])
  expect(logged).toEqual([{ database: 1, obstacle: 'silent for 1 s' }])
})
