import { expect, test } from 'vitest'
import { nodeFlags } from './node-flags.ts'

test('threads of V8 beside the proxy are half as many as there are processors, one at least and four at most', () => {
  const helpers = (processors: number) =>
    nodeFlags('proxy', processors).filter((flag) => flag.startsWith('--v8-pool-size='))
  expect([1, 2, 4, 7, 8, 64].map(helpers)).toEqual(
    [1, 1, 2, 3, 4, 4].map((count) => [`--v8-pool-size=${count}`]),
  )
})
