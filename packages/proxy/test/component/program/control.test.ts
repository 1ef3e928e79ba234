import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEpochFence } from '@fairlead/api'
import { expect, test } from 'vitest'
import { type ProxyHandlers, serveControl } from '../../../src/program/control.ts'
import { until } from '../../stage.ts'

/** A socket in a folder of its own, what to serve there, and what the proxy says meanwhile. */
async function makePlace() {
  const folder = await mkdtemp(join(tmpdir(), 'control-'))
  const said: string[] = []
  const fence = createEpochFence(
    {},
    async () => undefined,
    () => undefined,
  )
  return {
    path: join(folder, 'proxy.sock'),
    said,
    control: { handlers: {} as ProxyHandlers, fence, log: (what: string) => void said.push(what) },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

test('a proxy without a free file for the connection of an order goes on, repeatedly', async () => {
  await using place = await makePlace()
  const { path, said } = place
  const servers = new Set<Server>()
  const note = (message: unknown) => {
    const { server } = (message as { readonly socket: Socket & { readonly server?: Server } }).socket
    if (server !== undefined) servers.add(server)
  }
  subscribe('net.server.socket', note)
  try {
    await using _ = await serveControl(path, place.control)
    connect(path).destroy()
    await until(() => servers.size > 0)
    // What Node does when accept(2) fails.
    const cause = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
    for (const server of servers) for (let n = 0; n < 3; n += 1) server.emit('error', cause)
    expect(said).toHaveLength(3)
  } finally {
    unsubscribe('net.server.socket', note)
  }
})

test('a path that is none is not found, and nothing is logged', async () => {
  await using place = await makePlace()
  const { path, said } = place
  await using _ = await serveControl(path, place.control)
  const socket = connect(path)
  let heard = ''
  socket.on('data', (bytes) => {
    heard += bytes.toString()
  })
  socket.write('GET // HTTP/1.1\r\nHost: proxy\r\n\r\n')
  await until(() => heard.includes('error_code'))
  socket.destroy()
  expect([heard.slice(0, 12), said]).toEqual(['HTTP/1.1 404', []])
})

test('a body that is too long is refused, and the next order on its connection is answered', async () => {
  await using place = await makePlace()
  const { path, said } = place
  await using _ = await serveControl(path, place.control)
  const socket = connect(path)
  let heard = ''
  socket.on('data', (bytes) => {
    heard += bytes.toString()
  })
  const head = 'POST /proxy/endpoints/bdb-1/hold HTTP/1.1\r\nHost: proxy\r\nContent-Length:'
  socket.write(`${head} 300000\r\n\r\n${' '.repeat(300_000)}`)
  await until(() => heard.includes('invalid_request'))
  socket.write(`${head} 2\r\n\r\n{}`)
  await until(() => heard.split('invalid_request').length === 3)
  socket.destroy()
  expect([heard.match(/HTTP\/1.1 400/g), heard.includes('more than 262144 bytes'), said]).toEqual([
    ['HTTP/1.1 400', 'HTTP/1.1 400'],
    true,
    [],
  ])
})
