import { createEffect, measureParts, moveRole, replicationOf, writeStopOf } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { soonInSync } from '../../../../../../proof/spawn-engine.ts'
import { until } from '../../../../../../proof/until.ts'
import { ADMIN_PASSWORD, builds, startTestEngine } from '../../../engine.ts'

const settings = [
  ...[...soonInSync, 'replica-read-only no'],
  ...['masteruser fairlead', `masterauth ${ADMIN_PASSWORD}`],
]
const inSecond = (command: string) => `redis.call('SELECT', 1) return redis.call(${command})`

test.for(builds.slice(-1))(
  'a successor that lacks a key of another logical database than the first does not get the role: $flavour $version',
  async (build) => {
    await using primary = await startTestEngine(build, settings)
    await using successor = await startTestEngine(build, settings)
    const { host, port } = primary.admin.address
    await successor.admin.call('REPLICAOF', host, port)
    await until('the stream flows', async () => (await replicationOf(successor.admin)).link === 'up')
    for (const command of ["'SET', 'kept', 'v'", "'SET', 'missing', 'v'"])
      await primary.admin.call('EVAL', inSecond(command), 0)
    await primary.admin.call('SET', 'in the first', 'v')
    const move = () =>
      moveRole(
        {
          primary: primary.admin,
          successor: successor.admin,
          others: [],
          build,
          errorReplies: 0,
          until: performance.now() + 60_000,
          onGiven: () => undefined,
        },
        { effect: createEffect(() => undefined), elapsed: () => performance.now() },
      )
    await until('it has the key', async () => (await primary.admin.call('WAIT', 1, 0)) === 1)
    expect(await successor.admin.call('EVAL', inSecond("'DEL', 'missing'"), 0)).toBe(1)
    // On a busy machine it may not catch up in time at first.
    const answer = await until('both stand at one offset', async () => {
      const moved = await move()
      return 'why' in moved && moved.code === 'replication' ? undefined : moved
    })
    expect(answer).toMatchObject({ code: 'data_differs', hopeless: true })
    expect((await replicationOf(primary.admin)).role).toBe('primary')
    expect(await primary.admin.call('SET', 'writes', 'go on')).toBe('OK')
  },
)

test('the write stop of a certificate is the sum of its parts in which no shard takes writes, also when the server is busy between them', async () => {
  let now = 0
  const parts = measureParts(() => now, { pause: 0, equal: 0, promote: 0, release: 0 })
  const lap = async (part: 'pause' | 'equal' | 'promote' | 'release', ms: number) => {
    now += ms
    const work = Promise.resolve()
    // Something else has the processor when the part has ended.
    queueMicrotask(() => {
      now += 0.04
    })
    await parts.lap(part, work)
  }
  await lap('pause', 3.14)
  await lap('equal', 0.09)
  await lap('promote', 2.15)
  const { pause, equal, promote } = parts.all()
  expect(pause).toBeGreaterThanOrEqual(3.14)
  expect(writeStopOf(parts.all())).toBeCloseTo(pause + equal + promote, 5)
  expect(writeStopOf(parts.all())).toBeCloseTo(now, 5)
  await lap('release', 15.7)
  expect(writeStopOf(parts.all())).toBeCloseTo(pause + equal + promote, 5)
})
