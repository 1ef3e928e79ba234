import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { listDatabaseStats, listPermissions } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../../../../proof/until.ts'
import { createHttp } from '../../../src/http/create-http.ts'
import { mountOn } from '../../../src/http/mount.ts'

const ENTRIES = 2_000
const intervals = Array.from({ length: 100 }, (_, n) => ({
  interval: '10sec' as const,
  stime: '2026-11-25T12:00:00Z',
  etime: '2026-11-25T12:00:10Z',
  conns: n,
  total_req: n * 1.5,
  used_memory: n * 1_000,
}))
const entry = (n: number) => ({ uid: String(n + 1), intervals })

/** Serves a list of ENTRIES entries, 30 MB, and counts those that were asked for; and a short answer. */
async function serve() {
  const seen = { made: 0, madeAtShort: [] as number[] }
  const http = createHttp({
    identify: (_, requester) => ({
      ...requester,
      token: null,
      user: { uid: 1, name: 'x', grants: [{ management: 'admin', databases: null }] },
    }),
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    placeLimits: { most: 3, mostOfSource: 3, mostOfUser: 2 },
  })
  const mount = mountOn(http)
  mount(listDatabaseStats, async () => ({
    *[Symbol.iterator]() {
      for (; seen.made < ENTRIES; seen.made += 1) yield entry(seen.made)
    },
  }))
  mount(listPermissions, async () => {
    seen.madeAtShort.push(seen.made)
    return {}
  })
  await http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = http.server.address() as AddressInfo
  return {
    seen,
    url: `http://127.0.0.1:${port}`,
    /** Asks for the list, and reads nothing. */
    async askOnly() {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      socket.pause()
      await once(socket, 'connect')
      socket.write('GET /v1/bdbs/stats HTTP/1.1\r\nHost: localhost\r\n\r\n')
      return socket
    },
    [Symbol.asyncDispose]: () => http.close(),
  }
}

test('a long list is whole, and other requests are answered while it is made', async () => {
  await using server = await serve()
  const list = fetch(`${server.url}/v1/bdbs/stats`)
  await until('it has begun', async () => server.seen.made > 0)
  const short = await fetch(server.url + listPermissions.path)
  expect(short.status).toBe(200)
  const answer = await list
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await answer.json()).toEqual(Array.from({ length: ENTRIES }, (_, n) => entry(n)))
  expect(server.seen.madeAtShort[0]).toBeLessThan(ENTRIES)
})

test('no more of it is made than its client reads, and such clients have their places', async () => {
  await using server = await serve()
  const sockets = [await server.askOnly(), await server.askOnly()]
  await until('both have begun', async () => server.seen.made > 2)
  expect((await fetch(`${server.url}/v1/bdbs/stats`)).status).toBe(429)
  for (let n = 0; n < 50; n += 1) await (await fetch(server.url + listPermissions.path)).arrayBuffer()
  let before = -1
  await until('no more is made', async () => {
    const isSame = before === server.seen.made
    before = server.seen.made
    return isSame
  })
  expect(before).toBeLessThan(ENTRIES)
  for (const socket of sockets) socket.destroy()
  await until('their places are free', async () => {
    const { status, body } = await fetch(`${server.url}/v1/bdbs/stats`)
    await body?.cancel()
    return status === 200
  })
})

test('an empty list, and the head of one', async () => {
  await using server = await serve()
  server.seen.made = ENTRIES
  expect(await (await fetch(`${server.url}/v1/bdbs/stats`)).text()).toBe('[]')
  const head = await fetch(`${server.url}/v1/bdbs/stats`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})
