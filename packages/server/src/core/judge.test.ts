import { describe, expect, test } from 'vitest'
import { judge } from './judge.ts'
import { goalOf, groupOf, old, undoOf } from './test-group.ts'

test('hopelessness is for who can go back: taking an upgrade back is never given up', () => {
  const hopeless = { kind: 'hopeless', why: 'so it is' } as const
  expect(judge(hopeless, 0, groupOf(1), goalOf()).kind).toBe('hopeless')
  expect(judge(hopeless, 0, groupOf(1), undoOf(goalOf())).kind).toBe('stuck')
})

describe('waiting', () => {
  test('has an end: an upgrade that cannot link its surge shard is given up, after the handover a person is asked', () => {
    const wait = { kind: 'wait', shard: 3, why: 'shard 3 connects to shard 1' } as const
    expect(judge(wait, 1_000, groupOf(1), goalOf()).kind).toBe('wait')
    expect(judge(wait, 31_000, groupOf(1), goalOf()).kind).toBe('hopeless')
    expect(judge(wait, 31_000, groupOf(1), goalOf({ ...old })).kind).toBe('stuck')
  })
})
