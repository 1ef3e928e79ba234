import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { until, untilClosed } from '../../../../../../proof/until.ts'
import { mostByFiles, watchConnections } from '../../../../src/http/connections/connections.ts'

const most = 3

/** A server with few connections, whose requests are answered when `answer` is called. */
async function serve() {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const server = createServer((_, response) => void answered.then(() => response.end('done')))
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  const connections = watchConnections(server, { most, log })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const dial = async (): Promise<Socket> => {
    const before = [...connections.all()].length
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    await until('the server has it', () => [...connections.all()].length > before || before === most)
    return socket
  }
  return { port, dial, answer, connections, logged }
}

// invariant: Connections to the API leave the server the files that it needs.
test('beyond the limit the oldest idle connection is closed, and a request in progress is not', async () => {
  const { port, dial, answer, connections, logged } = await serve()
  const busy = request({ host: '127.0.0.1', port, agent: false }).end()
  await until('its request has come', () => [...connections.all()].some(connections.isBusy))
  const [oldest, younger] = [await dial(), await dial()]
  const closed = untilClosed(oldest)
  await dial()
  await closed
  expect([...connections.all()]).toHaveLength(most)
  expect(younger.closed).toBe(false)
  expect(logged.filter((line) => line.includes('limit of connections'))).toHaveLength(1)
  answer()
  const [response] = await once(busy, 'response')
  expect(response.statusCode).toBe(200)
})

test('when every connection has a request in progress, the new one is closed', async () => {
  const { port, dial, connections } = await serve()
  const busy = Array.from({ length: most }, () =>
    request({ host: '127.0.0.1', port, agent: false })
      .on('error', () => undefined)
      .end(),
  )
  onTestFinished(() => busy.forEach((each) => void each.destroy()))
  await until('they have come', () => [...connections.all()].filter(connections.isBusy).length === most)
  const late = await dial()
  await until('it is closed', () => late.closed)
  expect([...connections.all()].filter(connections.isBusy)).toHaveLength(most)
})

test('half of the files that are not reserved are for connections, within limits', () => {
  expect([256, 1_024, 1_000_000].map(mostByFiles)).toEqual([16, 362, 4_096])
})
