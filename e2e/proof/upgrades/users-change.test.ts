import { test } from 'vitest'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { changeInUpgrades } from '../../support/keep-changing.ts'

const shapes = [
  { shards_count: 1, everyMs: 200 },
  { shards_count: 1, everyMs: 10 },
  { shards_count: 2, everyMs: 50 },
]

test.each(shapes)(
  'users and settings that are changed during upgrades are true afterwards ($shards_count groups, each $everyMs ms)',
  async (shape) => {
    await using fairlead = await startFairlead()
    await changeInUpgrades(fairlead, shape)
  },
)
