import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLoad } from '@fairlead/ledger'
import { describe, expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { lastWordsOf, rolesOf, specOf } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { pidsOf } from '../../support/pids-of.ts'

const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts')

async function create(fairlead: Fairlead, fields: object = {}) {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'lasting', memory_size: 0, replication: true, ...fields },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  return fairlead.api.getDatabase({ params: { uid } })
}

describe('a node has one server', () => {
  test('a second server on the same store is refused', async () => {
    await using fairlead = await startFairlead()
    const second = await run(['server'], {
      FAIRLEAD_HOME: fairlead.home,
      FAIRLEAD_HTTP_PORT: '0',
      FAIRLEAD_HTTPS_PORT: '0',
    })
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/another Fairlead server/),
    })
  })
})

describe('fairlead up', () => {
  // invariant: Engines outlive the control plane.
  test('says where it is and the first password once, stops on Ctrl-C without the databases, and finds them again', async () => {
    await using ports = await claimPorts()
    const home = await mkdtemp(join(tmpdir(), 'fairlead-'))
    try {
      const first = start(['up'], {
        FAIRLEAD_HOME: home,
        FAIRLEAD_HTTP_PORT: '0',
        FAIRLEAD_HTTPS_PORT: String(ports.to),
        FAIRLEAD_PORT_RANGE: `${ports.from}-${ports.to - 1}`,
        FAIRLEAD_LOG_LEVEL: 'info',
      })
      const url = await first.says(/ready at (http:\S+)/)
      const password = await first.says(/password: (\S+)/)
      const token = await authorize(url, password)
      const made = await post(url, token, '/v1/bdbs', {
        name: 'kept',
        memory_size: 0,
        replication: true,
        data_persistence: 'aof',
      })
      await until(
        'the database is active',
        async () => (await get(url, token, `/v1/bdbs/${made['uid']}`))['status'] === 'active',
      )
      // From the request to its action, and from the action to the agent.
      const logged = first.errors()
      expect(logged).toMatch(/"part":"server","request":"made-by-a-test"/)
      const [, action] =
        /"request":"made-by-a-test","action":"([^"]+)".*an action has begun/.exec(logged) ?? []
      expect(logged).toMatch(new RegExp(`"part":"agent","request":"${action}","method":"PUT".*an order`))
      expect(logged).toMatch(new RegExp(`"part":"server","request":"${action}".*step carried out`))
      for (const part of ['server', 'agent']) {
        const { stdout } = await run(['logs', part, '--lines', '10000'], { FAIRLEAD_HOME: home })
        expect(stdout).toContain(action)
      }
      const pids = pidsOf(home)
      expect(pids.length).toBe(3)
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const secure = await first.says(/ready at \S+ and (https:\S+)/)
      expect(await statusOver(secure, await first.says(/curl --cacert (\S+)/))).toBe(200)

      first.process.kill('SIGINT')
      expect(await first.ended).toBe(0)
      expect(pidsOf(home)).toEqual(pids)

      const again = start(['up'], {
        FAIRLEAD_HOME: home,
        FAIRLEAD_HTTP_PORT: '0',
        FAIRLEAD_HTTPS_PORT: '0',
        FAIRLEAD_PORT_RANGE: `${ports.from}-${ports.to}`,
      })
      const nextUrl = await again.says(/ready at (http:\S+)/)
      expect(again.output()).not.toContain('password')
      expect((await get(nextUrl, await authorize(nextUrl, password), '/v1/bdbs/1'))['status']).toBe('active')
      const third = await run(['up'], { FAIRLEAD_HOME: home })
      expect(third).toMatchObject({ code: 1, stderr: expect.stringMatching(/runs on .* already/) })

      const down = await run(['down', '--all', '--yes'], { FAIRLEAD_HOME: home })
      expect(down).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^2 database processes /m),
      })
      expect(await again.ended).toBe(0)
      expect(pidsOf(home)).toEqual([])
    } finally {
      await run(['down', '--all', '--yes'], { FAIRLEAD_HOME: home })
      await rm(home, { recursive: true, force: true })
    }
  })

  test('lists every fault of its configuration at once and exits with 2', async () => {
    const { code, stderr } = await run(['up'], {
      FAIRLEAD_HTTP_PORT: 'eighty',
      FAIRLEAD_PORT_RANGE: '9-1',
      FAIRLEAD_ADMIN_PASSWORD: 'short',
      FAIRLEAD_ENGINE: '/somewhere',
    })
    expect(code).toBe(2)
    for (const fault of [
      /FAIRLEAD_HTTP_PORT must/,
      /FAIRLEAD_PORT_RANGE must/,
      /FAIRLEAD_ADMIN_PASSWORD must have 8/,
      /FAIRLEAD_ENGINE is not a variable/,
    ]) {
      expect(stderr).toMatch(fault)
    }
    expect(stderr).not.toContain('short')
  })

  test('whose port is taken says so, and does not use up the first password', async () => {
    const home = await mkdtemp(join(tmpdir(), 'fairlead-'))
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    try {
      const { port } = taken.address() as { port: number }
      const refused = await run(['up'], {
        FAIRLEAD_HOME: home,
        FAIRLEAD_HTTP_PORT: String(port),
        FAIRLEAD_HTTPS_PORT: '0',
      })
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(`port ${port} is taken.*FAIRLEAD_HTTP_PORT`),
      })
      const next = start(['up'], { FAIRLEAD_HOME: home, FAIRLEAD_HTTP_PORT: '0', FAIRLEAD_HTTPS_PORT: '0' })
      await next.says(/password: (\S+)/)
      next.process.kill('SIGTERM')
      expect(await next.ended).toBe(0)
    } finally {
      taken.close()
      await run(['down', '--all', '--yes'], { FAIRLEAD_HOME: home })
      await rm(home, { recursive: true, force: true })
    }
  })

  test('whose ports another process has taken looks after its databases, and serves the API when it can', async () => {
    await using ports = await claimPorts()
    const home = await mkdtemp(join(tmpdir(), 'fairlead-'))
    const env = {
      FAIRLEAD_HOME: home,
      FAIRLEAD_HTTP_PORT: String(ports.to),
      FAIRLEAD_HTTPS_PORT: String(ports.to - 1),
      FAIRLEAD_PORT_RANGE: `${ports.from}-${ports.to - 2}`,
      FAIRLEAD_ADMIN_PASSWORD: 'a-password-of-a-test',
    }
    const takers = [ports.to, ports.to - 1].map((port) => ({ port, server: createServer() }))
    try {
      const first = start(['up'], env)
      const url = await first.says(/ready at (http:\S+)/)
      const [secure, trusted] = [
        await first.says(/ready at \S+ and (https:\S+)/),
        await first.says(/curl --cacert (\S+)/),
      ]
      const signIn = () => authorize(url, env.FAIRLEAD_ADMIN_PASSWORD)
      const made = await post(url, await signIn(), '/v1/bdbs', {
        name: 'kept',
        memory_size: 0,
        data_persistence: 'aof',
      })
      const path = `/v1/bdbs/${made['uid']}`
      await until(
        'the database is active',
        async () => (await get(url, await signIn(), path))['status'] === 'active',
      )
      first.process.kill('SIGTERM')
      expect(await first.ended).toBe(0)

      for (const { port, server } of takers) await once(server.listen(port, '127.0.0.1'), 'listening')
      const again = start(['up'], env)
      await until('both ports are named', async () =>
        takers.every(({ port }) => again.errors().includes(`port ${port} is taken`)),
      )
      const asked = await run(['status'], { FAIRLEAD_HOME: home, FAIRLEAD_CONFIG: join(home, 'profiles') })
      expect(asked).toMatchObject({
        stderr: expect.stringMatching(`not served yet: port ${ports.to} is taken by`),
      })
      const [engine] = pidsOf(join(home, 'shards'))
      if (engine === undefined) throw new Error('there is no engine')
      process.kill(engine, 'SIGKILL')
      await until('another engine has been started in its place', async () => {
        const [next] = pidsOf(join(home, 'shards'))
        return next !== undefined && next !== engine
      })
      expect(again.output()).not.toContain('ready')
      for (const { server } of takers) server.close()
      expect(await again.says(/ready at (http:\S+)/)).toBe(url)
      await until(
        'HTTPS is served, too',
        async () => (await statusOver(secure, trusted).catch(() => null)) === 200,
      )
      expect((await get(url, await signIn(), path))['status']).toBe('active')
      again.process.kill('SIGTERM')
      expect(await again.ended).toBe(0)
    } finally {
      for (const { server } of takers) server.close()
      await run(['down', '--all', '--yes'], { FAIRLEAD_HOME: home })
      await rm(home, { recursive: true, force: true })
    }
  })

  test('refuses a command that it does not know, with exit code 2', async () => {
    expect(await run(['upp'], {})).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown command/),
    })
  })
})

describe('a database that was stopped in order', () => {
  for (const persistence of ['disabled', 'aof', 'snapshot'] as const) {
    test(`comes back after the next start, with its data and roles (${persistence})`, async () => {
      await using fairlead = await startFairlead()
      const { uid, authentication_engine_pass: password = '' } = await create(fairlead, {
        data_persistence: persistence,
      })
      const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
      await using load = await startLoad({ kind: 'set', connections: 10, perSecond: 2_000, password, lookup })
      await load.untilAcked(1_000)
      await load.stop()
      await fairlead.server.end('SIGTERM')
      await fairlead.agent.end('SIGTERM')
      const down = await run(['down', '--all', '--yes'], { FAIRLEAD_HOME: fairlead.home })
      expect(down.stdout).toMatch(/2 database processes stopped/)

      await fairlead.agent.start()
      await fairlead.server.start()
      await until('both serve again', async () => (await rolesOf(fairlead, uid)).join() === 'primary,replica')
      const [primary] = await fairlead.api.listDatabaseShards({ params: { uid } })
      expect(primary?.role, lastWordsOf(fairlead)).toBe('master')
      expect(await load.readBack()).toMatchObject({ lost: 0 })
    })
  }
})

// invariant: Secrets are in no command line, no environment and no log.
test('secrets are in no command line, no environment of another process, and no log', async () => {
  await using fairlead = await startFairlead({ env: { FAIRLEAD_LOG_LEVEL: 'debug' } })
  const { authentication_engine_pass: userPassword = '' } = await create(fairlead)
  const { adminPassword } = specOf(fairlead.home, 1)
  for (const pid of pidsOf(fairlead.home)) {
    const seen = readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8')
    for (const secret of [userPassword, adminPassword, 'the-proof-is-in-the-ledger'])
      expect(seen).not.toContain(secret)
  }
  const logs = readdirSync(join(fairlead.home, 'shards')).map((shard) =>
    readFileSync(join(fairlead.home, 'shards', shard, 'engine.log'), 'utf8'),
  )
  for (const secret of [userPassword, adminPassword]) expect(logs.join('\n')).not.toContain(secret)
})

/** The status of GET /healthz for a client that trusts only what is in this file. */
async function statusOver(url: string, trusted: string): Promise<number | undefined> {
  const sent = request(`${url}/healthz`, { ca: readFileSync(trusted, 'utf8'), agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

async function authorize(url: string, password: string): Promise<string> {
  return String((await post(url, '', '/v1/users/authorize', { username: 'admin', password }))['access_token'])
}

async function post(
  url: string,
  token: string,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'x-request-id': 'made-by-a-test',
  }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Record<string, unknown>
}

async function get(url: string, token: string, path: string): Promise<Record<string, unknown>> {
  return (await (
    await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  ).json()) as Record<string, unknown>
}

function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--conditions=@fairlead/source', main, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], FAIRLEAD_ENGINES: enginesFolder(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString()
  })
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString()
  })
  return {
    process: child,
    output: () => stdout,
    errors: () => stderr,
    ended: new Promise<number | null>((resolve) => child.once('close', resolve)),
    says: (pattern: RegExp) =>
      until(`it says ${pattern}; it said ${stdout}${stderr}`, async () => pattern.exec(stdout)?.[1]),
  }
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const started = start(args, env)
  const code = await started.ended
  return { code, stdout: started.output(), stderr: started.errors() }
}
