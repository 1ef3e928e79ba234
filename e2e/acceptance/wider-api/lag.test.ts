import { expect, test } from 'vitest'
import { pidOf } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { create, serves } from '../../support/kill-shards.ts'

test('a database whose replica lags is not available to a check of lag, though it serves', async () => {
  await using fairlead = await startFairlead()
  const { api } = fairlead
  const uid = await create(fairlead)
  await serves(fairlead, uid)
  const params = { uid }
  const query = { extend_check: 'lag', availability_lag_tolerance_ms: 5_000 } as const
  const check = () =>
    api.getAvailability({ params, query }).then(
      ({ available }) => available,
      ({ code }) => code,
    )
  expect(await check()).toBe(true)
  const replica = await pidOf(fairlead, 2)
  process.kill(replica, 'SIGSTOP')
  try {
    expect(await check()).toBe('bdb_unavailable')
    expect(await api.getAvailability({ params })).toEqual({ available: true })
    await expect(api.getLocalAvailability({ params, query })).rejects.toMatchObject({
      code: 'bdb_endpoint_unavailable',
      status: 503,
    })
  } finally {
    process.kill(replica, 'SIGCONT')
  }
  await until('the replica follows again', async () => (await check()) === true)
})
