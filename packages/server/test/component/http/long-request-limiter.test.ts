import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { followAction, upgradeModules } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createHttp } from '../../../src/http/create-http.ts'
import { createLongRequestLimiter, placesOf } from '../../../src/http/long-request-limiter.ts'
import { mountOn } from '../../../src/http/mount.ts'

/**
 * A stream without events, and an upgrade of modules that does not end. The request itself names its user.
 */
async function serve(placeLimits: ReturnType<typeof placesOf>) {
  const begun = { upgrades: 0 }
  const http = createHttp({
    identify: (authorization, requester) => ({
      ...requester,
      token: null,
      user: {
        uid: Number(authorization?.split(' ')[0]),
        name: 'x',
        grants: [{ management: 'admin', databases: null }],
      },
    }),
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    placeLimits,
  })
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
    async ask(what: 'follow' | 'upgrade', uid: number) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      open.push(socket)
      await once(socket, 'connect')
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

test('streams and requests that wait have their places of one user and of one source', async () => {
  await using server = await serve({ most: 6, mostOfSource: 4, mostOfUser: 3 })
  const waits = await server.ask('upgrade', 1)
  await expect.poll(() => server.begun.upgrades).toBe(1)
  const follow = async (uid: number) => await (await server.ask('follow', uid)).status()
  expect([await follow(1), await follow(1)]).toEqual(['200', '200'])
  // An upgrade that is refused has not begun.
  expect([await follow(1), await (await server.ask('upgrade', 1)).status()]).toEqual(['429', '429'])
  expect(server.begun.upgrades).toBe(1)
  expect([await follow(2), await follow(3)]).toEqual(['200', '429'])
  // When one ends, another may come.
  waits.socket.destroy()
  await expect.poll(() => follow(3)).toBe('200')
})

test('other sources have places when those of one are taken, up to all places', () => {
  const places = createLongRequestLimiter({ most: 5, mostOfSource: 3, mostOfUser: 5 })
  const isAdmitted = (ip: string) => {
    try {
      places.take({ ip, caller: null })
      return true
    } catch {
      return false
    }
  }
  expect(['127.0.0.1', '::1', '127.0.0.2', '127.0.0.1'].map(isAdmitted)).toEqual([true, true, true, false])
  expect(['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(isAdmitted)).toEqual([true, true, false])
})

test('streams and waiting requests have half of the connections, and short requests have the rest', () => {
  expect(placesOf(4_096)).toEqual({ most: 1_000, mostOfSource: 500, mostOfUser: 50 })
  expect(placesOf(362)).toEqual({ most: 181, mostOfSource: 91, mostOfUser: 50 })
  expect(placesOf(16)).toEqual({ most: 8, mostOfSource: 4, mostOfUser: 4 })
})
