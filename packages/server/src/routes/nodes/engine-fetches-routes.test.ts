import type { BuildFetch, WantedBuild } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { AuditEvent } from '../../core/identity/audit-record.ts'
import { createHttp } from '../../http/create-http.ts'
import { mountOn } from '../../http/mount.ts'
import { engineFetchesRoutes } from './engine-fetches-routes.ts'

/** Serves the fetches of a stand-in agent. The token is the management of its user. */
function serve(fetches: readonly BuildFetch[] = []) {
  const recorded: AuditEvent[] = []
  const wanted: WantedBuild[] = []
  const http = createHttp({
    identify: (header, requester) => {
      const management = header === 'Bearer admin' ? 'admin' : 'cluster_viewer'
      const grants = [{ management, databases: null } as const]
      return { ...requester, user: { uid: 1, name: 'mia', grants }, token: null }
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const nodes = {
    async startFetch(build: WantedBuild) {
      expect(recorded.length).toBe(wanted.length + 1)
      wanted.push(build)
      return { ...running, ...build }
    },
    fetches: async () => fetches,
  }
  engineFetchesRoutes(mountOn(http), nodes, { record: async (event) => void recorded.push(event) })
  const url = '/v1/engine_versions/fetches'
  return {
    recorded,
    wanted,
    async post(payload: object, user = 'admin') {
      const headers = { authorization: `Bearer ${user}` }
      const answer = await http.inject({ method: 'POST', url, headers, payload })
      return { status: answer.statusCode, body: answer.json() }
    },
    list: async () =>
      (await http.inject({ method: 'GET', url, headers: { authorization: 'Bearer viewer' } })).json(),
  }
}

const running: BuildFetch = {
  id: 'f1',
  flavour: 'valkey',
  version: null,
  alsoUnstable: false,
  state: 'running',
  line: 'looking for valkey in trixie',
  fault: null,
  build: null,
  startedAt: Date.UTC(2026, 10, 30),
  endedAt: null,
}

test('a build is asked for by its name alone or exactly, and each request is recorded before the agent begins', async () => {
  const { post, wanted, recorded } = serve()
  expect(await post({ engine: 'valkey' })).toEqual({
    status: 200,
    body: {
      fetch_uid: 'f1',
      engine: 'valkey',
      engine_version: null,
      also_unstable: false,
      state: 'running',
      progress: 'looking for valkey in trixie',
      fetched: null,
      fault: null,
      started_time: '2026-11-30T00:00:00.000Z',
      ended_time: null,
    },
  })
  await post({ engine: 'redis', engine_version: '8.0', also_unstable: true })
  expect(wanted).toEqual([
    { flavour: 'valkey', version: null, alsoUnstable: false },
    { flavour: 'redis', version: '8.0', alsoUnstable: true },
  ])
  const type = 'engine_fetch_requested'
  expect(recorded).toMatchObject([
    { type, by: { name: 'mia' }, details: { engine: 'valkey', also_unstable: false } },
    { type, details: { engine: 'redis', version: '8.0', also_unstable: true } },
  ])
})

test('an engine or version that cannot be is refused with the field, and users without update_cluster are', async () => {
  const { post, recorded, wanted } = serve()
  const faults = [
    [{ engine: 'postgres' }, /^engine: .*valkey, redis, redict/],
    [{ engine_version: '8.1' }, /^engine: is missing/],
    [{ engine: 'valkey', engine_version: 'latest' }, /^engine_version: .*8\.1 or 8\.1\.1/],
    [{ engine: 'valkey', engine_version: '' }, /^engine_version: /],
    [{ engine: 'valkey', version: '8.1' }, /version/],
  ] as const
  for (const [body, message] of faults)
    expect(await post(body)).toMatchObject({
      status: 400,
      body: { error_code: 'invalid_request', message: expect.stringMatching(message) },
    })
  expect(await post({ engine: 'valkey' }, 'viewer')).toMatchObject({
    status: 403,
    body: { error_code: 'forbidden' },
  })
  expect([recorded, wanted]).toEqual([[], []])
})

test('the list says which build came and from which suite, or why none did', async () => {
  const program = '/engines/valkey-8.1.4/bin/valkey-server'
  const build = { flavour: 'valkey', version: '8.1.4', source: 'folder', program, suite: 'trixie' } as const
  const ended = { ...running, endedAt: running.startedAt + 1_000 }
  const fault = { code: 'unreachable', why: 'the archive cannot be reached' } as const
  const { list } = serve([
    { ...ended, id: 'f2', state: 'done', build },
    { ...ended, state: 'failed', fault },
  ])
  const ended_time = '2026-11-30T00:00:01.000Z'
  expect(await list()).toMatchObject([
    {
      fetch_uid: 'f2',
      state: 'done',
      fetched: { engine: 'valkey', engine_version: '8.1.4', suite: 'trixie' },
      fault: null,
      ended_time,
    },
    { fetch_uid: 'f1', state: 'failed', fetched: null, fault: { code: 'unreachable', message: fault.why } },
  ])
})
