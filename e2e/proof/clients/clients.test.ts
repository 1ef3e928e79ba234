import { afterAll, beforeAll, expect, test } from 'vitest'
import { libraries } from '../../../proof/clients/clients.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { goThroughHandovers } from '../../support/client-course.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

test.concurrent.each(Object.keys(libraries))(
  '%s notices neither an upgrade, nor its rollback, nor roles that are preserved',
  async (name) => {
    const { longestStallMs, ...found } = await goThroughHandovers(fairlead, name)
    expect(found).toMatchObject({ wrong: [], reconnects: 0 })
    expect(longestStallMs).toBeLessThan(30_000)
  },
)
