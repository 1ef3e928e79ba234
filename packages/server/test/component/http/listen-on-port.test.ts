import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { type ListenPlace, listenOnPort } from '../../../src/http/listen-on-port.ts'

async function takePort() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

const settings = { host: 'FAIRLEAD_HTTP_ADDRESS', port: 'FAIRLEAD_HTTP_PORT' }
const at = (port: number): ListenPlace => ({ host: '127.0.0.1', port, settings })

test('the server waits for a port that its former process still has while that process ends', async () => {
  const { server, port } = await takePort()
  const http = fastify()
  const listening = listenOnPort((place) => http.listen(place), at(port))
  await expect.poll(() => server.listening).toBe(true)
  server.close()
  expect(await listening).toBe(`http://127.0.0.1:${port}`)
  await http.close()
})

test('for a port that stays taken, the error names the process that has it', async () => {
  const { server, port } = await takePort()
  const http = fastify()
  const said = `port ${port} is taken by process ${process.pid}; set FAIRLEAD_HTTP_PORT to another one`
  await expect(listenOnPort((place) => http.listen(place), at(port), { withinMs: 100 })).rejects.toThrow(said)
  await http.close()
  server.close()
})

test('a server that looks after databases waits for its port as long as it takes, and says once why', async () => {
  const { server, port } = await takePort()
  const http = fastify()
  const said: string[] = []
  const patience = { onTaken: (why: string) => void said.push(why), stop: new AbortController().signal }
  const listening = listenOnPort((place) => http.listen(place), at(port), { withinMs: 0, patience })
  await expect.poll(() => said).toEqual([expect.stringContaining(`taken by process ${process.pid};`)])
  server.close()
  expect(await listening).toBe(`http://127.0.0.1:${port}`)
  expect(said).toHaveLength(1)
  await http.close()
})

test('a wait for a port ends when the server is asked to stop', async () => {
  const { server, port } = await takePort()
  const http = fastify()
  const stop = new AbortController()
  const patience = { onTaken: () => stop.abort(), stop: stop.signal }
  const waiting = listenOnPort((place) => http.listen(place), at(port), { withinMs: 0, patience })
  await expect(waiting).rejects.toThrow('abort')
  await http.close()
  server.close()
})

test('for an address that this machine does not have, the error names the setting', async () => {
  const http = fastify()
  const place = { host: '203.0.113.1', port: 0, settings }
  await expect(listenOnPort((where) => http.listen(where), place, { withinMs: 100 })).rejects.toThrow(
    '203.0.113.1 is no address of this machine; set FAIRLEAD_HTTP_ADDRESS to one that is',
  )
  await http.close()
})
