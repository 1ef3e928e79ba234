import { expect, test } from 'vitest'
import { adminPassword, startControlPlane } from '../../../control-plane.ts'

test('an interval or a metric that is not kept is refused by its name', async () => {
  await using server = await startControlPlane()
  const auth = await server.signIn(server.config.adminUsername, adminPassword)
  const ask = (path: string) => server.send('GET', path, { auth })
  for (const path of ['/v1/bdbs/stats', '/v1/shards/stats', '/v1/nodes/stats'])
    expect(await ask(`${path}?interval=5min`)).toMatchObject({ status: 200, body: [] })
  for (const path of ['/v1/bdbs/stats/last', '/v1/shards/stats/last', '/v1/cluster/stats/last'])
    for (const query of ['', '?interval=15min&stime=2026-11-21T12:00:00&etime=2026-11-21T13:00:00Z'])
      expect(await ask(path + query)).toMatchObject({ status: 200, body: {} })
  expect(await ask('/v1/cluster/stats')).toMatchObject({ status: 200, body: { intervals: [] } })
  expect(await ask('/v1/bdbs/stats/7')).toMatchObject({ status: 404, body: { error_code: 'db_not_exist' } })
  expect(await ask('/v1/shards/stats/7')).toMatchObject({ body: { error_code: 'shard_not_exist' } })
  expect(await ask('/v1/nodes/stats/2')).toMatchObject({ body: { error_code: 'node_not_exist' } })
  for (const interval of ['1sec', '12hour', '1week'])
    expect(await ask(`/v1/bdbs/stats?interval=${interval}`)).toMatchObject({
      status: 400,
      body: { error_code: 'invalid_request', message: expect.stringContaining('10sec, 5min, 15min, 1hour') },
    })
  for (const metrics of ['total_req,read_req,write_hits', 'bigstore_objs_ram,avg_read_latency'])
    expect(await ask(`/v1/bdbs/stats?metrics=${metrics}`)).toMatchObject({ status: 200 })
  expect((await ask('/v1/bdbs/stats?metrics=reads')).body['message']).toContain('reads is none of total_req')
  expect((await ask('/v1/cluster/stats?stime=2026-99-99T00:00:00Z')).body['message']).toContain('stime')
})
