import { expect, test } from 'vitest'
import { markOfLoss, whyOfLoss } from './describe-loss.ts'

const replaced = (more: Record<string, string>) => ({
  type: 'bdb_primary_replaced',
  details: { shard: '2', instead_of: '1', ...more },
})

test('a replaced primary says which shard serves now, and what is known of the loss: nothing unknown is said to be none', () => {
  expect(markOfLoss(replaced({}))).toMatchObject({ tone: 'bad', label: 'primary replaced' })
  const words = (more: Record<string, string>) => whyOfLoss(replaced(more))
  expect(words({ lost_bytes: '0' })).toMatch(
    /^Shard 2 took the place of shard 1.*nothing on record is missing/,
  )
  expect(words({ lost_bytes: '2048' })).toContain('2 KiB of what was on record')
  expect(words({})).toContain('how many is not known')
  const ofHandover = {
    type: 'bdb_handover_lost_writes',
    details: { shard: '2', instead_of: '1', bytes: 'unknown' },
  }
  expect(whyOfLoss(ofHandover)).toContain('how many is not known')
})
