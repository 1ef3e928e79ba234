import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Server, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { makeHome, until } from '../agent-home.ts'

test('an agent without a free file for a connection goes on, and answers when there is one again', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const servers = new Set<Server>()
  const note = (message: unknown) => {
    const { server } = (message as { readonly socket: Socket & { readonly server?: Server } }).socket
    if (server !== undefined) servers.add(server)
  }
  subscribe('net.server.socket', note)
  try {
    connect(home.socketPath).destroy()
    await until(() => servers.size > 0)
  } finally {
    unsubscribe('net.server.socket', note)
  }
  // What Node does when accept(2) fails.
  const cause = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  for (const server of servers) expect(server.emit('error', cause)).toBe(true)
  expect((await home.client.readLife({})).life).not.toBe('')
})
