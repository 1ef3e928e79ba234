import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FLOODS } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword } from '../../../packages/server/test/control-plane.ts'
import { http2Client } from '../../../packages/server/test/http2-client.ts'
import { httpsClient } from '../../../packages/server/test/https-client.ts'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { askForTurns, watchTurns } from '../../../proof/floods/ask-for-turns.ts'
import { dialRecords, type RecordClient } from '../../../proof/floods/tls-records.ts'
import { until } from '../../../proof/until.ts'

const CLIENTS_OF_EACH = 2
const WAVES = 2
/** As many as fit into what the kernel keeps for a new connection. */
const floods = [
  (client: RecordClient) => client.keyUpdates(2_300),
  (client: RecordClient) => client.keyUpdates(2_300, true),
  (client: RecordClient) => client.tinyRecords(Buffer.from('GET /v1/bootstrap HTTP/1.1\r\n'.repeat(90))),
]
/** Of all time, in turns of the server beyond 20 ms each: a client that comes at a random time meets one with this chance. */
const MOST_OVER = 0.01

const opened = new AsyncDisposableStack()
let home: string
let port: number
let ca: string
let log = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'fairlead-floods-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  port = opened.use(await claimPorts()).from
  const server = start()
  opened.defer(async () => {
    server.kill()
    await once(server, 'exit')
  })
  server.stdout?.on('data', (text: Buffer) => {
    log += text.toString()
  })
  await until(
    () => `the server runs: ${log}`,
    () => log.includes('the server runs'),
  )
  ca = readFileSync(join(home, 'ca.pem'), 'utf8')
  // The first flood is read by Node; then it is known that there is one.
  await flood()
})
afterAll(() => opened.disposeAsync())

function start(): ChildProcess {
  const program = fileURLToPath(new URL('../../../packages/server/test/run-https.ts', import.meta.url))
  return spawn(process.execPath, ['--conditions=@fairlead/source', `--import=${watchTurns}`, program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...{ TURNS_FOLDER: home, FAIRLEAD_HOME: home, FAIRLEAD_ADMIN_PASSWORD: adminPassword },
      ...{ FAIRLEAD_HTTP_PORT: '0', FAIRLEAD_HTTPS_PORT: String(port) },
    },
  })
}

/** Clients without a login send all at one moment, and are closed. */
async function flood(): Promise<void> {
  const makers = floods.flatMap((make) => Array.from({ length: CLIENTS_OF_EACH }, () => make))
  // All handshakes first: they have a time limit, and to make the records takes a while.
  const dialled = await Promise.all(makers.map(() => dialRecords(port, ca)))
  const clients = dialled.map((client, n) => ({ raw: client.raw, bytes: makers[n]?.(client) ?? '' }))
  for (const { raw, bytes } of clients) raw.write(bytes)
  await until('the clients that flood are closed', () => clients.every(({ raw }) => raw.destroyed))
}

test('after a first flood, clients without a login that send thousands of TLS records at one moment are closed, and no request of others waits for them', async () => {
  using one = httpsClient(port, ca)
  using two = await http2Client(port, { ca })
  const ask = async () => {
    const answers = [await one.send('GET', '/v1/bootstrap'), await two.send('GET', '/v1/bootstrap')]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  }
  await ask()
  await askForTurns(home)
  for (let n = 0; n < WAVES; n += 1) await flood()
  const turns = await askForTurns(home)
  await ask()
  expect(one.connections).toBe(1)
  expect(turns.overMs / turns.tookMs, JSON.stringify(turns)).toBeLessThan(MOST_OVER)
  expect(log).toContain(FLOODS)
})
