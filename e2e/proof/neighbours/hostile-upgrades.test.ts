import { test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { upgradeAmongHostile } from '../../support/hostile-upgrade.ts'

const { seed } = campaign()

test.for([1, 2].map((groups) => ({ seed, groups })))(
  'hostile clients do not keep an upgrade of $groups group(s) from its end, nor take a write from others (seed $seed)',
  upgradeAmongHostile,
)
