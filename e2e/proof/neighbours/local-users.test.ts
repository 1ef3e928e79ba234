import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dial } from '../../../packages/proxy/test/stage.ts'
import { pidOf, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { canBeStranger, startStranger } from '../../support/start-stranger.ts'

describe.runIf(canBeStranger)('another user of the machine', () => {
  // invariant: Another user at the port of a dead engine gets no password and no data.
  test('that takes the port of an engine that died receives no password and no data; when it goes, the database is back', async () => {
    await using fairlead = await startFairlead()
    const { uid, password, port } = await create(fairlead)
    await using client = await dial(port)
    await client.ask(`AUTH default ${password}`, '+OK\r\n')
    {
      await using stranger = startStranger(takePort(specOf(fairlead.home, 1).port))
      expect(await stranger.says()).toBe('ready')
      const engine = await pidOf(fairlead, 1)
      // So that the stranger gets the port, which happens only sometimes.
      process.kill(fairlead.agent.pid, 'SIGSTOP')
      process.kill(engine, 'SIGKILL')
      expect(await stranger.says()).toBe('listens')
      process.kill(fairlead.agent.pid, 'SIGCONT')

      await until('the agent has tried to start it again', async () =>
        readFileSync(join(fairlead.home, 'shards', 's1', 'process.json'), 'utf8').includes('in use'),
      )
      // Three connections are tried: by the server as a client, by the server as administrator in its turns,
      // and by the proxy for a new client.
      await until(
        'the database is unavailable',
        async () => (await availability(fairlead, uid)).status === 503,
      )
      await using other = await dial(port)
      other.send(`AUTH default ${password}\r\nSET card 4111-1111\r\n`)
      await until('the client has got the error', async () => other.text().startsWith('-LOADING '))
      expect(stranger.rest()).toEqual([])
    }
    await until('it serves again', async () => (await availability(fairlead, uid)).status === 200)
    await using again = await dial(port)
    await again.ask(`AUTH default ${password}`, '+OK\r\n')
  })

  test('that takes the port of an endpoint is sent no password, and is reported', async () => {
    await using fairlead = await startFairlead()
    const { uid, port } = await create(fairlead)
    {
      await using stranger = startStranger(takePort(port))
      expect(await stranger.says()).toBe('ready')
      process.kill(fairlead.agent.pid, 'SIGSTOP')
      process.kill(proxyPid(fairlead.home), 'SIGKILL')
      expect(await stranger.says()).toBe('listens')
      process.kill(fairlead.agent.pid, 'SIGCONT')

      const why = /EADDRINUSE.*user 65534/
      await until('the taken port is reported', async () => {
        const stats = await fairlead.api.getEndpointStats({ params: { uid } }).catch(() => null)
        return stats !== null && why.test(stats.why)
      })
      const { status, text } = await availability(fairlead, uid)
      expect([status, text]).toEqual([503, expect.stringMatching(/port_unbound.*user 65534/)])
      expect(stranger.rest()).toEqual([])
    }
    await until('it serves again', async () => (await availability(fairlead, uid)).status === 200)
  })

  test('that has taken the names of former locks blocks nothing', async () => {
    await using fairlead = await startFairlead({ env: { FAIRLEAD_PROXY_WORKERS: '2' } })
    const { uid, port } = await create(fairlead)
    const proxy = proxyPid(fairlead.home)
    await fairlead.agent.end('SIGKILL')
    process.kill(proxy, 'SIGKILL')
    const digest = (path: string) => createHash('sha256').update(resolve(path)).digest('hex').slice(0, 32)
    const names = [
      `fairlead-agent-${digest(join(fairlead.home, 'run', 'agent.sock'))}`,
      `fairlead-proxy-${digest(join(fairlead.home, 'proxy'))}`,
      `fairlead-endpoint-127.0.0.1:${port}`,
    ]
    await using stranger = startStranger(takeNames(names))
    expect(await stranger.says()).toBe(`has ${names.length}`)
    await fairlead.agent.start()
    await until('it serves again', async () => (await availability(fairlead, uid)).status === 200)
  })
})

async function create(fairlead: Fairlead) {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'private', memory_size: 0 },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  const { authentication_engine_pass: password = '', port = 0 } = await fairlead.api.getDatabase({
    params: { uid },
  })
  await until('it serves', async () => (await availability(fairlead, uid)).status === 200)
  return { uid, password, port }
}

async function availability(
  { url, token }: Fairlead,
  uid: number,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/v1/bdbs/${uid}/availability`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: answer.status, text: await answer.text() }
}

function proxyPid(home: string): number {
  const file = join(home, 'proxy', 'process.json')
  const { identity } = JSON.parse(readFileSync(file, 'utf8')) as { identity: { pid: number } }
  return identity.pid
}

/** Takes a port as soon as it is free, and prints everything that is sent to it. */
const takePort = (port: number) => `import { createServer } from 'node:net'
const take = () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => console.log('heard ' + JSON.stringify(bytes.toString('latin1'))))
  })
  server.once('error', () => setImmediate(take))
  server.listen({ port: ${port}, host: '127.0.0.1' }, () => console.log('listens'))
}
console.log('ready')
take()
`

const takeNames = (names: readonly string[]) => `import { createServer } from 'node:net'
const names = ${JSON.stringify(names)}
let has = 0
const take = (name) => {
  const server = createServer((socket) => socket.destroy())
  server.once('error', () => setTimeout(take, 5, name))
  server.listen('\\0' + name, () => {
    has += 1
    if (has === names.length) console.log('has ' + has)
  })
}
names.forEach(take)
`
