import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { listenOnPort } from './listen-on-port.ts'

async function takePort() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

test('the server waits for a port that its former process still has while that process ends', async () => {
  const { server, port } = await takePort()
  const http = fastify()
  const listening = listenOnPort(http, port)
  await expect.poll(() => server.listening).toBe(true)
  server.close()
  expect(await listening).toBe(`http://127.0.0.1:${port}`)
  await http.close()
})

test('for a port that stays taken, the error names the process that has it', async () => {
  const { server, port } = await takePort()
  const http = fastify()
  const said = `port ${port} is taken by process ${process.pid}; set FAIRLEAD_HTTP_PORT to another one`
  await expect(listenOnPort(http, port, 100)).rejects.toThrow(said)
  await http.close()
  server.close()
})
