import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { holdConnection } from '../../../../src/http/connections/hold-connection.ts'

afterEach(() => vi.useRealTimers())

test('of a stream whose client has gone no timer is left, which would keep a server that has stopped for a minute', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  const connection = holdConnection(response, { stop: new AbortController().signal, stalledMs: 60_000 })
  client.destroy()
  await connection.closed
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  connection.end('event: end\n\n')
  expect(vi.getTimerCount()).toBe(0)
  server.close()
})
