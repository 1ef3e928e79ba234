import { createHash } from 'node:crypto'
import { createEffect } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import type { Database } from '../../core/state/database.ts'
import type { ObservedGroup } from '../../core/state/topology.ts'
import { keepShardCertificates } from './shard-certificates.ts'

const good = { ca: 'authority', cert: 'good now', key: 'secret' }
const name = createHash('sha256').update(good.cert).digest('hex')
const database = { uid: 7 } as Database

let asked = 0

/** The shards that get another certificate, if they have these. */
async function putOn(certificates: readonly (string | null)[]): Promise<readonly string[]> {
  const put: string[] = []
  asked = 0
  const ports = {
    tls: {
      shards: async () => {
        asked += 1
        return good
      },
    },
    agent: {
      putShardCertificate: async ({ params, body }: { params: { id: string }; body: object }) => {
        expect(body).toEqual(good)
        put.push(params.id)
        return params
      },
    },
    effect: createEffect(() => undefined),
  }
  const group = groupOf(certificates.length - 1)
  const shards: ObservedGroup['shards'] = group.shards.map((shard, n) => ({
    ...shard,
    certificate: certificates[n] ?? null,
  }))
  const seen = { groups: [{ ...group, shards }] }
  await keepShardCertificates(database, seen, ports, { isTime: () => true })
  return put
}

test('a shard with another certificate than the current one gets the current one; others are left alone', async () => {
  expect(await putOn([name, 'of last year', null])).toEqual(['s2'])
  expect(asked).toBe(1)
  expect(await putOn([null, null])).toEqual([])
  // No certificate is made if no shard would use it.
  expect(asked).toBe(0)
})
