import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { followAction, upgradeModules } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createHttp } from '../../../src/http/create-http.ts'
import { mountOn } from '../../../src/http/mount.ts'
import { placesOf } from '../../../src/http/places.ts'

/**
 * A stream without events, and an upgrade of modules that does not end. The request itself says its user and
 * its source.
 */
async function serve(placeLimits: ReturnType<typeof placesOf>) {
  const begun = { upgrades: 0 }
  const http = createHttp({
    identify: (authorization, requester) => ({
      ...{ ...requester, token: null },
      user: {
        uid: Number(authorization?.split(' ')[0]),
        name: 'x',
        grants: [{ management: 'admin', databases: null }],
      },
    }),
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    placeLimits,
    // As the kernel tells users of this machine apart.
    sourceOf: async ({ peer }) => `local user ${sources.get(peer?.port ?? 0)}`,
  })
  const sources = new Map<number, string>()
  const mount = mountOn(http)
  mount(followAction, async () => ({
    admits: () => true,
    async *events(_, signal) {
      if (!signal.aborted) await once(signal, 'abort')
      yield* []
    },
  }))
  mount(upgradeModules, async ({ waitPreference }) => {
    begun.upgrades += 1
    if (!waitPreference.signal.aborted) await once(waitPreference.signal, 'abort')
    throw new Error('its client has gone')
  })
  await http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = http.server.address() as AddressInfo
  const open: Socket[] = []
  return {
    begun,
    /** Answers its connection, and the status if one has come before another client was answered. */
    async ask(what: 'follow' | 'upgrade', uid: number, from: string) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      open.push(socket)
      await once(socket, 'connect')
      sources.set(socket.localPort ?? 0, from)
      const path = { follow: 'GET /v1/actions/a/events', upgrade: 'POST /v1/bdbs/1/modules/upgrade' }[what]
      const body = what === 'follow' ? '' : '{"modules":[{"module_name":"m","new_module":"u"}]}'
      const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      socket.write(`${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${uid} x\r\n${type}\r\n${body}`)
      return { socket, status: async () => String(await once(socket, 'data')).slice(9, 12) }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await http.close()
    },
  }
}

test('streams and requests that wait have their places of one user, of one source and of all', async () => {
  await using server = await serve({ most: 6, mostOfSource: 4, mostOfUser: 3 })
  const waits = await server.ask('upgrade', 1, 'a')
  await expect.poll(() => server.begun.upgrades).toBe(1)
  const follow = async (uid: number, from: string) => await (await server.ask('follow', uid, from)).status()
  expect([await follow(1, 'a'), await follow(1, 'b')]).toEqual(['200', '200'])
  // Of one user, wherever they are; and an upgrade that is refused has not begun.
  expect(await follow(1, 'c')).toBe('429')
  expect(await (await server.ask('upgrade', 1, 'c')).status()).toBe('429')
  expect(server.begun.upgrades).toBe(1)
  // From one source, with any user.
  expect([await follow(2, 'a'), await follow(3, 'a'), await follow(4, 'a')]).toEqual(['200', '200', '429'])
  // Of all.
  expect([await follow(4, 'b'), await follow(5, 'c')]).toEqual(['200', '429'])
  // When one ends, another may come.
  waits.socket.destroy()
  await expect.poll(() => follow(5, 'c')).toBe('200')
})

test('streams and waiting requests have half of the connections, and short requests have the rest', () => {
  expect(placesOf(4_096)).toEqual({ most: 1_000, mostOfSource: 500, mostOfUser: 50 })
  expect(placesOf(362)).toEqual({ most: 181, mostOfSource: 91, mostOfUser: 50 })
  expect(placesOf(16)).toEqual({ most: 8, mostOfSource: 4, mostOfUser: 4 })
})
