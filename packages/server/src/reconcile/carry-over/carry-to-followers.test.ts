import { expect, test } from 'vitest'
import { databaseOf, shardOf } from '../../../test/records.ts'
import { type CarryingPorts, carryToFollowers } from './carry-to-followers.ts'

test('for a primary without followers neither its agent nor its engine is asked', async () => {
  // Whatever is taken of the ports would be a question.
  const ports = new Proxy<Partial<CarryingPorts>>(
    {},
    {
      get: (_, name) => {
        throw new Error(`${String(name)} was taken`)
      },
    },
  ) as CarryingPorts
  const about = { database: databaseOf(), primary: shardOf(1), followers: [], action: undefined }
  expect(await carryToFollowers(about, ports)).toBeUndefined()
  await expect(carryToFollowers({ ...about, followers: [shardOf(2)] }, ports)).rejects.toThrow('was taken')
})
