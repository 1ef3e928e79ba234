import {
  type ClusterEvent,
  createClient,
  fetchStreamTransport,
  fetchTransport,
  operations,
} from '@fairlead/api'
import { expect, test } from 'vitest'
import { usualPair } from '../../proof/engine-pairs.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'

const { from, to } = usualPair()

test('a follower of the whole cluster misses nothing of an upgrade, and gets nothing twice, while the server is killed', {
  timeout: 600_000,
}, async () => {
  await using fairlead = await startFairlead()
  const { api, server, url } = fairlead
  const stop = new AbortController()
  const seen: ClusterEvent[] = []
  const follower = createClient(
    ...([operations, fetchTransport(url), () => fairlead.token, fetchStreamTransport(url)] as const),
  )
  const followed = (async () => {
    for await (const event of follower.followEvents({ query: {} }, { signal: stop.signal })) seen.push(event)
  })().catch((cause: unknown) => cause)
  await until('the snapshot', () => seen.some(({ type }) => type === 'live'))

  const body = { name: 'watched', memory_size: 0, replication: true, engine_version: from }
  const created = await api.createDatabase({ body })
  await fairlead.untilEnded(created.action_uid)
  const { uid } = created
  const asked = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
  const { action_uid: action = '' } = asked
  for (const progress of [1, 30, 60]) {
    await until(`progress ${progress}`, () =>
      seen.some(
        (event) =>
          event.type === 'action' && event.action_uid === action && (event.progress ?? 0) >= progress,
      ),
    )
    await server.end('SIGKILL')
    await server.start()
  }
  await fairlead.untilEnded(action)
  const last = await api.createRole({ body: { name: 'last', management: 'none' } })
  const isLast = (event: ClusterEvent) =>
    event.type === 'audit' &&
    event.record.type === 'role_created' &&
    event.record.details['role'] === last.uid
  await until('the last event', () => seen.some(isLast))
  stop.abort(new Error('enough'))
  await followed

  expect(seen.filter(({ type }) => type === 'snapshot')).toHaveLength(1)
  const seqs = seen.flatMap((event) => ('seq' in event && event.seq !== undefined ? [event.seq] : []))
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  for (const uidOfAction of [created.action_uid, action]) {
    const own: number[] = []
    const events = follower.followAction({ params: { uid: uidOfAction ?? '' }, query: {} })
    for await (const { seq } of events) own.push(seq)
    const followedOfIt = seen.flatMap((event) =>
      'action_uid' in event && event.action_uid === uidOfAction ? [event.seq] : [],
    )
    expect(followedOfIt).toEqual(own)
  }
  const records = seen.flatMap((event) => (event.type === 'audit' ? [event.record.uid] : []))
  const [firstRecord = 0] = records
  expect(records).toEqual(records.map((_, n) => firstRecord + n))
  const databases = seen.flatMap((event) => (event.type === 'database' ? [event.database] : []))
  // What it could be upgraded to is no state of the database, and only GET says it.
  const [{ upgradable_to: _, ...listed } = {}] = await api.listDatabases({})
  expect(databases.at(-1)).toEqual(listed)
})
