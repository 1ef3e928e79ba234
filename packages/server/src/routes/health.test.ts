import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createHttp } from '../http/create-http.ts'
import { mountOn } from '../http/mount.ts'
import { healthRoutes } from './health-routes.ts'

/** A server in this state, without users. */
function serve(state: { readonly store?: 'away'; readonly agent?: 'away'; readonly server?: 'stopping' }) {
  const http = createHttp({
    identify: () => {
      throw new Error('no token is looked at')
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  let asked = 0
  healthRoutes(mountOn(http), {
    cluster: {
      settings: async () => {
        asked += 1
        if (state.store === 'away') throw Object.assign(new Error('no answer'), { code: 'STORE_AWAY' })
        // The route asks only whether there is an answer.
        return undefined as never
      },
    },
    nodes: { ready: async () => state.agent !== 'away' },
    isStopping: () => state.server === 'stopping',
  })
  const ask = async (url: string) => {
    const { statusCode, body, headers } = await http.inject({ method: 'GET', url })
    return { status: statusCode, body: JSON.parse(body), retryAfter: headers['retry-after'] }
  }
  return { ask, asked: () => asked }
}

test('a server whose store and agent answer is ready, without a token', async () => {
  const { ask } = serve({})
  expect(await ask('/readyz')).toMatchObject({ status: 200, body: { status: 'ok' } })
  expect(await ask('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
})

test.each([
  [{ store: 'away' }, 'the store of the cluster does not answer'],
  [{ agent: 'away' }, 'the agent does not answer'],
  [{ server: 'stopping' }, 'this server is stopping'],
] as const)(
  'a server with %j is not ready, says why and when to ask again, and is alive',
  async (state, why) => {
    const { ask } = serve(state)
    const { status, body, retryAfter } = await ask('/readyz')
    expect([status, body.error_code, retryAfter]).toEqual([503, 'unavailable', '1'])
    expect(body.message).toContain(why)
    expect((await ask('/healthz')).status).toBe(200)
  },
)

test('however often it is asked at once, the store is asked once', async () => {
  const { ask, asked } = serve({})
  await Promise.all(Array.from({ length: 50 }, () => ask('/readyz')))
  expect(asked()).toBe(1)
})
