import { expect, test } from 'vitest'
import { foldReason } from './fold-reason.ts'

test('of the lines of a log the first is shown, which is the cause, and what follows from it is folded', () => {
  const cause =
    'shard 47 on valkey 8.1.1 cannot read the data: Failed loading library, Error registering functions'
  const others = [
    'Short read or OOM loading DB. Unrecoverable error, aborting now.',
    'Failed trying to load the PRIMARY',
  ]
  expect(foldReason([cause, ...others].join('; '))).toEqual({ first: cause, rest: others })
})

test('a sentence is not cut', () => {
  const why = 'all 3 groups are ready; the upgrade is supervised and goes on when a user resumes it'
  expect(foldReason(why)).toEqual({ first: why, rest: [] })
})
