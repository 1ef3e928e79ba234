import { test } from 'vitest'
import { pastSeeds } from '../../proof/past-seeds.ts'
import { upgradeAmongHostile } from '../support/hostile-upgrade.ts'

/** The seeds that once found a fault; random ones are in e2e/proof/neighbours. */
const rounds = pastSeeds['hostile upgrades'].flatMap((seed) => [1, 2].map((groups) => ({ seed, groups })))

test.for(rounds)(
  'hostile clients do not keep an upgrade of $groups group(s) from its end, nor take a write from others (seed $seed)',
  upgradeAmongHostile,
)
