import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as nextRound } from 'node:timers/promises'
import { connect as dial } from 'node:tls'
import { expect, test } from 'vitest'
import { claimPorts } from '../../../../../proof/claim-ports.ts'
import { longHello } from '../../../../../proof/floods/long-hello.ts'
import { until } from '../../../../../proof/until.ts'
import { startControlPlane, type TestControlPlane } from '../../control-plane.ts'

/** Of `/v2`, by a client that trusts what `ca` says. */
async function scrape(port: number, ca: string, authorization?: string) {
  const headers = authorization === undefined ? {} : { authorization }
  const sent = request({ host: '127.0.0.1', port, path: '/v2', ca, headers, agent: false }).end()
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode as number, body: await text(answer) }
}

async function authorityOf(server: TestControlPlane): Promise<string> {
  const auth = await server.signIn('admin', 'the-first-password')
  const { body } = await server.send('GET', '/v1/cluster/certificates', { auth })
  return String(body['ca_cert'])
}

const tokenOf = (server: TestControlPlane) =>
  `Bearer ${readFileSync(join(server.home, 'metrics.token'), 'utf8').trim()}`

test('metrics of the wider API are served over HTTPS at a port of their own, with the certificate of the API, to those that may read metrics', async () => {
  await using ports = await claimPorts()
  await using server = await startControlPlane({ metricsPort: ports.to })
  const ca = await authorityOf(server)
  expect(await scrape(ports.to, ca)).toMatchObject({ status: 401 })
  const { status, body } = await scrape(ports.to, ca, tokenOf(server))
  expect(status).toBe(200)
  expect(body).toMatch(/^total_nodes_count\{cluster="[^"]*"\} 1$/m)
})

test('if another process has the port, everything else is served, and the port is taken when it is free', async () => {
  await using ports = await claimPorts()
  const other = createServer().listen({ host: '127.0.0.1', port: ports.to })
  await once(other, 'listening')
  await using server = await startControlPlane({ metricsPort: ports.to })
  const ca = await authorityOf(server)
  expect(server.logged.join()).toContain(`port ${ports.to} is taken; set FAIRLEAD_METRICS_PORT`)
  other.close()
  await once(other, 'close')
  await until('the port is taken', async () => {
    const answer = await scrape(ports.to, ca, tokenOf(server)).catch(() => null)
    return answer?.status === 200
  })
})

test('scrapes under way are answered when the server stops', async () => {
  await using ports = await claimPorts()
  await using server = await startControlPlane({ metricsPort: ports.to })
  const ca = await authorityOf(server)
  const headers = { authorization: tokenOf(server) }
  const begun = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const sent = request({ host: '127.0.0.1', port: ports.to, path: '/v2', ca, headers, agent: false })
      const answered = once(sent, 'response').then(async ([answer]) => {
        await text(answer)
        return answer.statusCode as number
      })
      answered.catch(() => undefined)
      const [socket] = (await once(sent.end(), 'socket')) as [Socket]
      await once(socket, 'secureConnect')
      return { answered }
    }),
  )
  // The server reads what has come in.
  for (let round = 0; round < 20; round += 1) await nextRound()
  await server.restart()
  expect(await Promise.all(begun.map(({ answered }) => answered))).toEqual([200, 200, 200, 200])
})

test('connections without a request, however many, keep no scrape out', async () => {
  await using ports = await claimPorts()
  await using server = await startControlPlane({ metricsPort: ports.to })
  const ca = await authorityOf(server)
  const silent = Array.from({ length: 50 }, () => connect(ports.to, '127.0.0.1').on('error', () => undefined))
  for (const socket of silent) socket.resume()
  const open: Socket[] = []
  for (let n = 0; n < 40; n += 1) {
    const client = dial({ host: '127.0.0.1', port: ports.to, ca }).on('error', () => undefined)
    await once(client, 'secureConnect')
    open.push(client)
  }
  expect(await scrape(ports.to, ca, tokenOf(server))).toMatchObject({ status: 200 })
  // Those that have ended their handshake stay for a minute, unless there are too many.
  await until('the oldest is closed', () => open[0]?.destroyed, { withinMs: 20_000 })
  expect(open.at(-1)?.destroyed).toBe(false)
  for (const socket of [...silent, ...open]) socket.destroy()
})

test('a client that sends thousands of requests and reads no answer is closed', async () => {
  await using ports = await claimPorts()
  await using server = await startControlPlane({ metricsPort: ports.to })
  const ca = await authorityOf(server)
  const client = dial({ host: '127.0.0.1', port: ports.to, ca }).on('error', () => undefined)
  await once(client, 'secureConnect')
  client.pause().write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20_000))
  await until('it is closed', () => client.closed)
  expect(await scrape(ports.to, ca, tokenOf(server))).toMatchObject({ status: 200 })
})

test('plain HTTP at the port is told what the port is, and a first message that is too long is never read by TLS', async () => {
  await using ports = await claimPorts()
  await using server = await startControlPlane({ metricsPort: ports.to })
  expect(await say(ports.to, 'GET /v2 HTTP/1.1\r\nHost: here\r\n\r\n')).toContain('use https://')
  expect(await say(ports.to, longHello())).toBe('')
  expect(await scrape(ports.to, await authorityOf(server), tokenOf(server))).toMatchObject({ status: 200 })
})

/** What is answered until the connection ends. */
async function say(port: number, what: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.write(what)
  await once(socket, 'close')
  return answer
}
