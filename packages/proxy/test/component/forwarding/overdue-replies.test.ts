import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { ANSWER_MS } from '../../../src/handover/ask-whether-serving.ts'
import { LONGEST_OVERDUE_MS, LONGEST_UNTOLD_MS } from '../../../src/handover/overdue.ts'
import { createClock } from '../../pass-time.ts'
import {
  dial,
  type Engine,
  freePort,
  makeEndpointSpec,
  makePair,
  newest,
  oldest,
  startEngine,
  until,
} from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

const host = '127.0.0.1'
afterEach(() => vi.restoreAllMocks())

/** A command that the engine never gets, and so never answers. */
const MUTE = 'MUTE\r\n'

/** A real engine, except for one command that it does not answer. */
async function startStrange(engine: Engine): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host, port: engine.port, noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('data', (bytes) => upstream.write(bytes.toString('latin1').replace(MUTE, ''), 'latin1'))
    upstream.on('data', (bytes) => client.write(bytes))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function makeStage(stack: AsyncDisposableStack) {
  const old = stack.use(await startEngine(newest))
  const engine = stack.use(await startEngine(newest))
  const strange = stack.use(await startStrange(old))
  const port = await freePort()
  const endpoint = stack.use(await openEndpoint(makeEndpointSpec(port, strange.port)))
  return { endpoint, old, engine, port, dial: async () => stack.use(await dial(port)) }
}

const hold = { deadlineMs: 60_000, drainMs: 100 }

/**
 * The engine is waited for, however late its answer is: where the machine stalls, it would count as busy, and
 * excuse what is in the way.
 */
const waitForEngine = () => holdTimers(ANSWER_MS)

// invariant: A missing reply cannot postpone a handover without end.
test.for([
  ['a client that waits', `PING\r\n${MUTE}`, '+PONG\r\n'],
  ['a client that goes on, whose replies are counted for those before', `${MUTE}PING\r\n`, '+PONG\r\n'],
  ['a subscriber', `SUBSCRIBE n\r\n${MUTE}`, '*3\r\n$9\r\nsubscribe\r\n$1\r\nn\r\n:1\r\n'],
  [
    'a client without replies',
    `PING\r\nCLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\n${MUTE}`,
    '+PONG\r\n+OK\r\n',
  ],
])(
  'a reply that never comes delays a handover twice, not endlessly: %s',
  async ([, said = '', answer = '']) => {
    await using stack = new AsyncDisposableStack()
    const { endpoint, engine, ...stage } = await makeStage(stack)
    const [client, other] = [await stage.dial(), await stage.dial()]
    client.send(said)
    await client.gets(answer)
    await other.ask('SET k v', '+OK\r\n')
    const why = '1 connection(s) wait for replies of the engine'
    const failed = { drained: false, code: 'replies_missing', why }
    expect(await endpoint.hold(hold)).toMatchObject({ ...failed, tries: 1 })
    expect(await endpoint.hold(hold)).toMatchObject({ ...failed, tries: 2 })
    await until(client.ended)
    expect(client.text()).toBe(
      '-ERR the endpoint waited for a reply that its engine does not owe this connection, and an upgrade waited too: connect again\r\n',
    )
    expect(await endpoint.hold(hold)).toMatchObject({ drained: true, cut: 1 })
    await endpoint.switchTo({ host, port: engine.port })
    await other.ask('SET k v', '+OK\r\n')
    expect(await engine.admin('EXISTS k')).toBe(':1\r\n')
  },
)

test('if the engine cannot be asked about a missing reply, other clients wait for it for some minutes at most', async () => {
  await using stack = new AsyncDisposableStack()
  const { endpoint, engine, ...stage } = await makeStage(stack)
  const [client, other] = [await stage.dial(), await stage.dial()]
  client.send(`MULTI\r\n${MUTE}`)
  await client.gets('+OK\r\n')
  waitForEngine()
  const pass = createClock()
  for (const tries of [1, 2, 3, 4]) expect(await endpoint.hold(hold)).toMatchObject({ drained: false, tries })
  pass(LONGEST_OVERDUE_MS)
  expect(await endpoint.hold(hold)).toMatchObject({ drained: false, tries: 5 })
  expect(await endpoint.hold(hold)).toMatchObject({ drained: true, cut: 1 })
  await until(client.ended)
  expect(client.text()).toMatch(/^-ERR no reply to this request has come for 5 minutes while others were/)
  await endpoint.switchTo({ host, port: engine.port })
  await other.ask('SET k v', '+OK\r\n')
})

test.for([true, false])(
  'if the login of a client is not valid any more, the login of another client is used to ask about its reply: %s',
  async (isOther) => {
    await using stack = new AsyncDisposableStack()
    const { endpoint, old, ...stage } = await makeStage(stack)
    for (const [name, rights] of [
      ['u', '+@all'],
      ['few', '-@all +get'],
    ] as const)
      await old.admin(`ACL SETUSER ${name} on >before ~* ${rights}`)
    const client = await stage.dial()
    await client.ask('AUTH u before', '+OK\r\n')
    client.send(`MULTI\r\n${MUTE}`)
    await client.gets('+OK\r\n')
    await old.admin('ACL SETUSER u resetpass >after')
    await old.admin('ACL SETUSER default -@all +acl')
    // This one's login is valid, and nothing can be asked with it.
    await (await stage.dial()).ask('AUTH few before', '+OK\r\n')
    if (isOther) await (await stage.dial()).ask('AUTH u after', '+OK\r\n')
    waitForEngine()
    const pass = createClock()
    for (let n = 0; n < 5; n += 1) {
      expect(await endpoint.hold(hold)).toMatchObject({ drained: false })
      pass(LONGEST_OVERDUE_MS / 4)
    }
    if (!isOther) {
      expect(client.ended()).toBe(false)
      const { why } = await endpoint.hold(hold)
      expect(why).toMatch(/it cannot be told whether the engine answers others/)
      expect(endpoint.report().lastError).toMatch(/takes no login of a client/)
      pass(LONGEST_UNTOLD_MS)
      for (let n = 0; n < 5; n += 1) {
        await endpoint.hold(hold)
        pass(LONGEST_OVERDUE_MS / 4)
      }
    }
    expect(await endpoint.hold(hold)).toMatchObject({ drained: true })
    await until(client.ended)
    expect(client.text()).toMatch(/^-ERR no reply to this request has come/)
  },
)

// invariant: The client of a slow command is never disconnected for it.
test.for([oldest, newest])(
  'slow commands are answered, however often a handover was delayed: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    const { endpoint, a } = pair
    await using stack = new AsyncDisposableStack()
    const client = async () => stack.use(await dial(pair.port))
    const [script, pop, wait, group] = [await client(), await client(), await client(), await client()]
    await group.ask('XGROUP CREATE s g $ MKSTREAM', '+OK\r\n')
    group.send('XREADGROUP GROUP g c BLOCK 0 STREAMS s >\r\n')
    pop.send('BLPOP list 0\r\n')
    wait.send('SET k v\r\nWAIT 9 0\r\n')
    await wait.gets('+OK\r\n')
    await until(async () => (await a.admin('INFO clients')).includes('blocked_clients:3'))
    await a.admin('CONFIG SET lua-time-limit 100')
    const loop =
      "local n = redis.call('TIME') repeat local m = redis.call('TIME') until m[1] - n[1] > 2 return 7"
    const pass = createClock()
    // Where the machine stalls, a script may end before it has delayed a handover twice.
    for (let putOff = 0; putOff < 2; ) {
      script.send(`EVAL "${loop}" 0\r\n`)
      while (script.text() === '') {
        const { drained, cut } = await endpoint.hold({ deadlineMs: 60_000, drainMs: 20 })
        if (drained) endpoint.release()
        else putOff += 1
        expect(cut).toBe(0)
        pass(LONGEST_OVERDUE_MS)
        await delay(5)
      }
      await script.gets(':7\r\n')
    }

    // Writes are paused, and reads are answered.
    await a.admin('CLIENT PAUSE 60000 WRITE')
    script.send('SET k w\r\n')
    await until(async () => {
      const { drained } = await endpoint.hold({ deadlineMs: 60_000, drainMs: 20 })
      if (drained) endpoint.release()
      return !drained
    })
    for (let n = 0; n < 5; n += 1) {
      expect(await endpoint.hold({ deadlineMs: 60_000, drainMs: 20 })).toMatchObject({
        drained: false,
        cut: 0,
      })
      pass(LONGEST_OVERDUE_MS)
    }
    await a.admin('CLIENT UNPAUSE')
    await script.gets('+OK\r\n')
    await script.ask('RPUSH list x', ':1\r\n')
    await pop.gets('*2\r\n$4\r\nlist\r\n$1\r\nx\r\n')
    script.send('XADD s 1-1 f v\r\n')
    await group.gets('*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n')
    expect(wait.ended()).toBe(false)
    expect(endpoint.report()).toMatchObject({ lastError: '', errors: 0, connections: 4 })
  },
)

test('if each time the reply of another connection is missing, a handover is delayed for minutes, not endlessly; an engine that answers no client is waited for', async () => {
  await using stack = new AsyncDisposableStack()
  const { endpoint, old, engine, ...stage } = await makeStage(stack)
  const other = await stage.dial()
  const pass = createClock()
  for (let n = 0; n < 6; n += 1) {
    await using client = await dial(stage.port)
    await client.ask('PING', '+PONG\r\n')
    client.send(MUTE)
    await other.ask('SET k v', '+OK\r\n')
    expect(await endpoint.hold(hold)).toMatchObject({ drained: false })
    pass(51_000)
  }
  old.process.kill('SIGSTOP')
  other.send('PING\r\n')
  expect(await endpoint.hold(hold)).toMatchObject({ drained: false })
  old.process.kill('SIGCONT')
  await other.gets('+PONG\r\n')
  waitForEngine()

  const client = await stage.dial()
  client.send(MUTE)
  await other.ask('SET k v', '+OK\r\n')
  expect(await endpoint.hold(hold)).toMatchObject({ drained: true, late: 0 })
  await until(client.ended)
  expect(client.text()).toMatch(/^-ERR no reply to this request has come, and an upgrade waited/)
  await endpoint.switchTo({ host, port: engine.port })
  await other.ask('GET k', '$-1\r\n')
})
