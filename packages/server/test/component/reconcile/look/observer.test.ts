import { once } from 'node:events'
import { type AddressInfo, createServer as createPlain, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { StaleEpoch } from '../../../../src/nodes/agent-link.ts'
import { createObserver, probeAsClient } from '../../../../src/reconcile/look/observer.ts'
import type { Reach } from '../../../../src/reconcile/turn/reach.ts'
import { makeAuthority, makeEndpointCertificate } from '../../../../src/tls/make-certificate.ts'
import type { TlsPair } from '../../../../src/tls/tls-store.ts'
import { builds, startTestEngine, USER_PASSWORD } from '../../../engine.ts'
import { databaseOf } from '../../../records.ts'

let authority: TlsPair
let stranger: TlsPair
beforeAll(async () => {
  authority = await makeAuthority(Date.now())
  stranger = await makeAuthority(Date.now())
})
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

/** The port of a server that shows this certificate and then answers OK to every command. */
async function serve({ cert, key }: TlsPair) {
  const server = opened.use(
    createServer({ cert, key }, (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        for (const _ of chunk.toString().matchAll(/^\*\d+\r$/gm)) socket.write('+OK\r\n')
      })
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { host: '127.0.0.1', port }
}

/** Asks again when the machine stood still for so long that the answer came too late. */
const probe = (...to: Parameters<typeof probeAsClient>) =>
  until('an answer in time', async () => {
    const seen = await probeAsClient(...to)
    return / within \d+ ms| timed out after /.test(seen.why) ? undefined : seen
  })

test('a check of a database trusts its authority, and no other', async () => {
  const at = await serve(await makeEndpointCertificate(authority, ['127.0.0.1'], Date.now()))
  const trust = (ca: string) => ({ ca: [ca], checksHost: true })
  expect(await probe(at, 'x', trust(authority.cert))).toEqual({ found: 'served', why: '' })
  expect(await probe(at, 'x', trust(stranger.cert))).toEqual({
    found: 'no engine answers',
    why: expect.stringMatching(/certificate/),
  })
  expect((await probe(at, 'x', null)).found).toBe('no engine answers')
})

test('the certificate must prove the host, except where only the operator knows the name that clients use', async () => {
  const own = await makeEndpointCertificate(stranger, ['db.example.org'], Date.now())
  const at = await serve(own)
  expect(await probe(at, 'x', { ca: [stranger.cert], checksHost: true })).toMatchObject({
    why: expect.stringMatching(/does not match/),
  })
  // It is not known which authorities its clients trust, so the certificate itself counts as trusted.
  expect((await probe(at, 'x', { ca: [authority.cert, own.cert], checksHost: false })).found).toBe('served')
})

test('a database whose user has another password, is off, or may not PING, is served', async () => {
  const build = builds.at(-1)
  if (build === undefined) throw new Error('no build')
  await using engine = await startTestEngine(build)
  const { admin } = engine
  expect(await probe(admin.address, 'wrong', null)).toEqual({ found: 'served', why: '' })
  await admin.call('ACL', 'SETUSER', 'default', '-ping')
  expect(await probe(admin.address, USER_PASSWORD, null)).toEqual({ found: 'served', why: '' })
  await admin.call('ACL', 'SETUSER', 'default', 'off')
  expect(await probe(admin.address, USER_PASSWORD, null)).toEqual({ found: 'served', why: '' })
})

test('an endpoint that says that it reaches no engine does not serve', async () => {
  const says = (socket: Socket) =>
    socket.on('error', () => undefined).on('data', () => void socket.end('-LOADING it cannot be reached\r\n'))
  const server = createPlain(says).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await probe({ host: '127.0.0.1', port }, 'x', null)).toMatchObject({
    found: 'no engine answers',
  })
  server.close()
})

test('a port without a listener is distinguished from a port on which no engine answers', async () => {
  // A port that was free a moment ago may be another test's by now.
  const port = 1
  expect(await probe({ host: '127.0.0.1', port }, 'x', null)).toMatchObject({ found: 'no listener' })
})

test('a look by a server that has not heard yet that it was replaced goes by the epoch of the store; one that no epoch helps says so', async () => {
  const asked: number[] = []
  const lookWhere = (highest: number) => {
    const reportShards = async (epoch: number) => {
      asked.push(epoch)
      if (epoch < highest) throw new StaleEpoch(`bucket 1 is held under epoch ${highest}`)
      return { memoryFreeBytes: 5, diskFreeBytes: 5, shards: [] }
    }
    const observer = createObserver({
      leases: { knownEpoch: async () => 1, epochAfterRefusal: async () => 824 },
      reachUnder: (_, epoch) => ({ agent: { reportShards: () => reportShards(epoch) } }) as unknown as Reach,
      shards: { listOf: async () => [], reservedBytes: async () => 0 },
      handovers: { last: async () => new Map() },
      now: Date.now,
    })
    return observer.look(databaseOf())
  }
  expect((await lookWhere(824)).groups).toHaveLength(1)
  expect(asked).toEqual([1, 824])
  await expect(lookWhere(825)).rejects.toBeInstanceOf(StaleEpoch)
})
