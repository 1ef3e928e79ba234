import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { appendFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, proxyOperations } from '@fairlead/api'
import { expect, test, vi } from 'vitest'
import { KEPT_LOG_BYTES, MOST_LOG_BYTES } from '../../../src/process/bound-log.ts'
import { identifyProcess, isAlive } from '../../../src/process/process-identity.ts'
import { createProxyProbe } from '../../../src/proxy/ask-proxy.ts'
import type { ProxyRecord } from '../../../src/proxy/proxy-folder.ts'
import { stopAllShards } from '../../../src/stop-all-shards.ts'
import { makeHome, socketTransport, type TestHome, until } from '../../agent-home.ts'
import { dial, echoServer, makeProxyHome, proxyProgram } from '../../proxy-home.ts'

test('a proxy runs with the agent, with a folder and a log for its owner only, and without the agent’s environment', async () => {
  vi.stubEnv('FAIRLEAD_STORE_KEY_OF_A_TEST', 'hush-hush')
  await using home = await makeProxyHome()
  await using agent = await home.start({ proxyProgram })
  const { pid } = await home.proxyBecomes({ state: 'running', crashes: 0, why: '' })
  const { path, log, socket } = home.folder
  expect([(await stat(path)).mode & 0o777, (await stat(log)).mode & 0o777]).toEqual([0o700, 0o600])
  // Whether the agent has given it to the server yet or not.
  expect((await stat(socket)).mode & 0o077).toBe(0)
  expect(readFileSync(log, 'utf8')).toContain('proxy runs')
  const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .map((line) => line.split('=')[0])
  expect(names.filter((name) => name !== '').toSorted()).toEqual(['NODE_COMPILE_CACHE', 'PATH'])
  expect((await agent.report()).proxy).toEqual({ state: 'running', pid, why: '', crashes: 0 })
})

test('the log of a running proxy is cut when it is long, and the proxy goes on to write', async () => {
  await using home = await makeProxyHome()
  await using database = await echoServer()
  await using _ = await home.start({ proxyProgram })
  await home.proxyBecomes({ state: 'running' })
  const { log } = home.folder
  await appendFile(log, `${'x'.repeat(1_000)}\n`.repeat(Math.ceil(MOST_LOG_BYTES / 1_000)))
  await until(async () => (await stat(log)).size <= KEPT_LOG_BYTES)
  await home.putEndpoint(database)
  // While the log is cut, a new line may come before the old ones that are kept.
  await until(() => /^{"at":.*bdb-1/m.test(readFileSync(log, 'utf8')))
})

// invariant: The proxy outlives its agent, and the next agent adopts it.
test('the next agent adopts the proxy of one that was killed: its clients keep their connections', async () => {
  await using home = await makeProxyHome()
  await using database = await echoServer()
  const killed = await startAgentProcess(home)
  const { pid } = await home.proxyBecomes({ state: 'running' })
  const port = await home.putEndpoint(database)
  await using client = await dial(port)
  expect(await client.ask()).toBe('+PONG\r\n')

  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(await client.ask()).toBe('+PONG\r\n')
  {
    await using _ = await home.start({ proxyProgram })
    expect(await home.proxyBecomes({ state: 'running' })).toEqual({
      state: 'running',
      pid,
      why: '',
      crashes: 0,
    })
  }
  expect(home.logged()).toContain('proxy process is adopted')
  await using _ = await home.start({ proxyProgram, proxyVersion: '9.9.9' })
  expect((await home.proxyBecomes({ state: 'running' })).pid).toBe(pid)
  expect(home.logged()).toContain('proxy process of another version is adopted')
  expect(await client.ask()).toBe('+PONG\r\n')
})

test('a killed proxy is started again, and serves the same endpoints without an order', async () => {
  await using home = await makeProxyHome()
  await using database = await echoServer()
  await using _ = await home.start({ proxyProgram })
  const before = await home.proxyBecomes({ state: 'running' })
  const port = await home.putEndpoint(database)
  process.kill(before.pid ?? 0, 'SIGKILL')
  const after = await home.proxyBecomes({ state: 'running', crashes: 1 })
  expect(after.pid).not.toBe(before.pid)
  await using client = await dial(port)
  expect(await client.ask()).toBe('+PONG\r\n')
  expect(home.logged()).toContain('signal SIGKILL')
})

test('a proxy that hangs is killed and started again', async () => {
  await using home = await makeProxyHome()
  await using _ = await home.start({ proxyProgram, hungAfterMs: 3_000 })
  const before = await home.proxyBecomes({ state: 'running' })
  process.kill(before.pid ?? 0, 'SIGSTOP')
  const after = await home.proxyBecomes({ state: 'running', crashes: 1 })
  expect(after.pid).not.toBe(before.pid)
  expect(home.logged()).toMatch(
    /did not answer for [\d.]+ s while it was stopped by a signal or a debugger, and was killed/,
  )
  expect(isRunning(before.pid)).toBe(false)
})

test('a proxy without a record, or with a broken one, is found again', async () => {
  await using home = await makeProxyHome()
  for (const text of ['null', '{"identity":', undefined]) {
    const killed = await startAgentProcess(home)
    const { pid } = await home.proxyBecomes({ state: 'running' })
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const record = (await home.folder.read()) as ProxyRecord
    // The state between the start of the process and its record.
    if (text === undefined) await home.folder.write({ ...record, identity: null, answeredAt: null })
    else await writeFile(join(home.folder.path, 'process.json'), text)
    await using _ = await home.start({ proxyProgram })
    expect((await home.proxyBecomes({ state: 'running' })).pid).toBe(pid)
  }
})

test('while another proxy holds the home, ours reports that and tries again, and serves once the other one is gone', async () => {
  await using home = await makeProxyHome()
  await home.folder.create()
  // It cannot be found in its folder: it works elsewhere.
  const args = [...proxyProgram.slice(1), '--home', home.folder.path]
  const stranger = spawn(process.execPath, args, { cwd: '/', stdio: 'ignore' })
  const client = createClient(proxyOperations, socketTransport(home.folder.socket))
  const isUp = () =>
    client.reportProxy({}).then(
      ({ pid }) => pid === stranger.pid,
      () => false,
    )
  await until(isUp)
  await using _ = await home.start({ proxyProgram })
  const { why } = await home.proxyBecomes({ state: 'failed' })
  expect(why).toMatch(/^(exit code 1: Error: )?another proxy runs on .*stop it first$/)
  expect(isRunning(stranger.pid)).toBe(true)
  stranger.kill('SIGKILL')
  await home.proxyBecomes({ state: 'running' })
})

test('a missing program is reported, and tried again', async () => {
  await using home = await makeProxyHome()
  const missing = join(home.path, 'no-such-node')
  await using _ = await home.start({ proxyProgram: [missing] })
  const { crashes, pid } = await home.proxyBecomes({ state: 'failed', why: `${missing} is missing` })
  expect(pid).toBeNull()
  await until(async () => (await home.client.reportNode({})).proxy.crashes > crashes)
})

test('the proxy is stopped with all shards, also while it is stalled, and is started by the next agent', async () => {
  await using home = await makeProxyHome()
  const stop = () => stopAllShards(home.path, home.logger, AbortSignal.timeout(60_000))
  for (const signal of ['SIGCONT', 'SIGSTOP'] as const) {
    const { pid } = await (async () => {
      await using _ = await home.start({ proxyProgram })
      return await home.proxyBecomes({ state: 'running', crashes: 0 })
    })()
    process.kill(pid ?? 0, signal)
    expect(await stop()).toEqual({ stopped: [], refused: [], proxyStopped: true })
    expect(isRunning(pid)).toBe(false)
  }
  expect(await stop()).toMatchObject({ proxyStopped: false })
})

test('an agent whose home is too deep for the socket of the proxy says so', async () => {
  await using home = await makeHome()
  const deep = join(home.path, 'x'.repeat(100))
  await expect(home.start({ home: deep, proxyProgram })).rejects.toThrow(
    /the path of the proxy's socket has \d+ bytes, Linux allows 107/,
  )
})

test('an answer that comes late counts, and the question before it is not asked again', async () => {
  await using home = await makeHome()
  const path = join(home.path, 'proxy.sock')
  let asked = 0
  const answer = Promise.withResolvers<void>()
  const server = createServer((_, response) => {
    asked += 1
    void answer.promise.then(() => response.end(JSON.stringify({ pid: 4711, rssBytes: 1, endpoints: [] })))
  }).listen(path)
  await once(server, 'listening')
  const probe = createProxyProbe(path)
  expect(await probe.ask(4711)).toEqual({ silentMs: 0 })
  answer.resolve()
  await until(async () => (await probe.ask(4711)) === 'answers')
  expect(asked).toBe(1)
  server.close()
})

test('an answer of another process does not count', async () => {
  await using home = await makeHome()
  const path = join(home.path, 'proxy.sock')
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ pid: 4711, rssBytes: 1, endpoints: [] }))
  }).listen(path)
  await once(server, 'listening')
  const probe = createProxyProbe(path)
  expect(await probe.ask(1)).toEqual({ silentMs: 0 })
  // Within a second, for which a machine under load may have stalled.
  await until(async () => (await probe.ask(4711)) === 'answers')
  server.close()
})

/** An agent in a process of its own, once it serves. */
async function startAgentProcess(home: TestHome): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../../run-agent.ts', import.meta.url))
  const args = [
    '--conditions=@fairlead/source',
    program,
    home.path,
    home.socketPath,
    JSON.stringify(proxyProgram),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const answers = () =>
    home.client.reportNode({}).then(
      () => true,
      () => false,
    )
  await until(answers)
  return child
}

function isRunning(pid: number | null | undefined): boolean {
  const identity = identifyProcess(pid ?? 0)
  return identity !== null && isAlive(identity)
}
