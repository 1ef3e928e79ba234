import { expect, test } from 'vitest'
import { crowdedCluster, crowdedUpgrade } from './crowded-cluster.ts'

test.each([
  [64, 2, undefined],
  [128, 2, /^128 shards in one cluster on 2 processor.* about 2 minute/],
  [128, 1, /about 4 minute/],
  [128, 16, undefined],
  [128, undefined, undefined],
])('%i shards on %s processors: %s', (shards, cores, said) => {
  const warning = crowdedCluster(shards, cores)
  if (said === undefined) expect(warning).toBeUndefined()
  else expect(warning).toMatch(said)
})

test.each([
  [24, 0, 2, undefined],
  [24, 1, 2, undefined],
  [64, 0, 2, /^128 shards in one cluster on 2 processor.* while the upgrade runs.* about 2 minute/],
  [48, 1, 2, /^144 shards .* about 3 minute/],
  [64, 1, 2, /^192 shards .* about 5 minute/],
  [64, 1, 32, undefined],
  [64, 1, undefined, undefined],
])('an upgrade of %i groups with %i replicas on %s processors: %s', (groups, replicas, cores, said) => {
  const warning = crowdedUpgrade({ groups, replicas }, cores)
  if (said === undefined) expect(warning).toBeUndefined()
  else expect(warning).toMatch(said)
})
