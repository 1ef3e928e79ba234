import { expect, test } from 'vitest'
import { crowdedCluster } from './crowded-cluster.ts'

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
