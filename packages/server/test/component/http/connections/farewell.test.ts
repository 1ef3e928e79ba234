import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { claimPorts } from '../../../../../../proof/claim-ports.ts'
import { until, untilClosed } from '../../../../../../proof/until.ts'
import { startControlPlane } from '../../../control-plane.ts'

const CLIENTS = 6

test.each(['http', 'https'] as const)(
  'a server that stops cuts no client over %s that asks all the time: it is told to close its connection',
  async (protocol) => {
    await using ports = await claimPorts()
    await using fairlead = await startControlPlane({ httpPort: ports.to, httpsPort: ports.from })
    const ca = readFileSync(join(fairlead.home, 'ca.pem'), 'utf8')
    const { Agent, request } = protocol === 'https' ? https : http
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS, ...(protocol === 'https' && { ca }) })
    const port = protocol === 'https' ? ports.from : ports.to
    const cut: string[] = []
    let [answers, told, isOver] = [0, 0, false]
    const askOn = async () => {
      while (!isOver) {
        const sent = request({ agent, host: '127.0.0.1', port, path: '/healthz' }).end()
        try {
          const [response] = await once(sent, 'response')
          for await (const _ of response);
          answers += 1
          if (response.headers.connection === 'close') told += 1
        } catch (cause) {
          // A new connection finds no server for a moment.
          if (sent.reusedSocket) cut.push(String(cause))
          await pause(5)
        }
      }
    }
    const asking = Promise.all(Array.from({ length: CLIENTS }, askOn))
    try {
      for (let round = 0; round < 2; round += 1) {
        const before = answers
        await until('each has asked', () => answers >= before + 4 * CLIENTS)
        await fairlead.restart()
      }
    } finally {
      isOver = true
      await asking
      agent.destroy()
    }
    expect(cut).toEqual([])
    expect(told).toBeGreaterThanOrEqual(CLIENTS)
  },
)

test('a server that stops does not wait for a connection on which nothing has been asked', {
  timeout: 30_000,
}, async () => {
  await using fairlead = await startControlPlane()
  // Like a connection that a browser opens in advance. It would be closed after a minute.
  const silent = connect(Number(new URL(fairlead.url).port), '127.0.0.1')
  silent.on('error', () => undefined)
  await once(silent, 'connect')
  await until('the server has it', async () => (await fetch(`${fairlead.url}/healthz`)).ok)
  const closed = untilClosed(silent)
  await fairlead.restart()
  await closed
})
