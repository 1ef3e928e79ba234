import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { EPOCH_HEADER, MOVE_PATH, MOVE_PROTOCOL, type MoveAnswer } from '@fairlead/api'
import { type EngineConnection, replicationOf } from '@fairlead/engine'
import { expect, test } from 'vitest'
import type { AgentConfig } from '../../../src/agent.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { mustDial } from '../../dial-tunnel.ts'

const shards = { primary: 's1', successor: 's2', others: [] }

/** A primary (s1) with a replica (s2) whose stream flows, at an agent. */
async function startGroup(config: Partial<AgentConfig> = {}) {
  await using opened = new AsyncDisposableStack()
  const home = opened.use(await makeHome())
  const agent = opened.use(await home.start({ stoodStillMs: 60_000, ...config }))
  const spec = await makeSpec()
  const { host, port, adminPassword, userPassword } = spec
  const replica = await makeSpec({ adminPassword, userPassword, replicaOf: { host, port } })
  await home.client.putShard({ params: { id: 's1' }, body: spec })
  await home.client.putShard({ params: { id: 's2' }, body: replica })
  await home.becomes('s1', { state: 'running' })
  await home.becomes('s2', { state: 'running' })
  const [primary, successor] = [await connectAs('fairlead', spec), await connectAs('fairlead', replica)]
  opened.use(primary)
  opened.use(successor)
  await until(async () => (await replicationOf(successor)).link === 'up')
  await primary.call('SET', 'k', 'v')
  await until(async () => Number(await primary.call('WAIT', 1, 100)) === 1)
  const followAt = { host, port: replica.port }
  const terms = { build: spec.build, errorReplies: 0, validForMs: 60_000, followAt }
  const owned = opened.move()
  return { home, agent, primary, successor, terms, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A server that orders a move: it sends lines, and reads those of the agent until the end. */
async function order(socketPath: string, epoch: string) {
  const headers = { connection: 'Upgrade', upgrade: MOVE_PROTOCOL, [EPOCH_HEADER]: epoch }
  const asked = request({ socketPath, method: 'POST', path: MOVE_PATH, headers, agent: false }).end()
  const [, stream] = (await once(asked, 'upgrade')) as [unknown, Socket]
  const answers: MoveAnswer[] = []
  createInterface({ input: stream }).on('line', (line) => answers.push(JSON.parse(line) as MoveAnswer))
  return {
    socket: stream,
    answers,
    send: (line: unknown) => void stream.write(`${JSON.stringify(line)}\n`),
    ready: () => until(() => answers.length > 0),
    ended: () => until(() => stream.destroyed || stream.readableEnded),
  }
}

const rolesOf = (engines: readonly EngineConnection[]) =>
  Promise.all(engines.map(async (engine) => (await replicationOf(engine)).role))

test('a role moves by one order: the agent tells before the successor gets it, and the old primary follows after the release', async () => {
  await using group = await startGroup()
  const { home, primary, successor, terms } = group
  const server = await order(home.socketPath, '1:1')
  server.send(shards)
  await server.ready()
  expect(await rolesOf([primary, successor])).toEqual(['primary', 'replica'])
  server.send(terms)
  await until(() => server.answers.length === 3)
  const { offset, replid, primary: followed } = await replicationOf(primary)
  expect(server.answers).toEqual([
    { ready: true },
    { giving: true },
    { moved: expect.objectContaining({ keys: 1, offset, replid }) },
  ])
  expect(await rolesOf([primary, successor])).toEqual(['replica', 'primary'])
  expect(followed?.port).toBe(0)
  expect((await replicationOf(successor)).replid2).toBe(replid)
  server.send({ released: true })
  await server.ended()
  expect(server.answers.slice(3)).toEqual([{ following: true }])
  await until(async () => (await replicationOf(primary)).link === 'up')
})

test('an old primary follows its successor also if its server is gone after the move', async () => {
  await using group = await startGroup()
  const { home, primary, terms } = group
  const server = await order(home.socketPath, '1:1')
  server.send(shards)
  await server.ready()
  server.send(terms)
  await until(() => server.answers.length === 3)
  server.socket.destroy()
  await until(async () => (await replicationOf(primary)).primary?.port === terms.followAt.port)
})

test('an order that has expired moves nothing, and writes continue', async () => {
  await using group = await startGroup()
  const { home, primary, successor, terms } = group
  const server = await order(home.socketPath, '1:1')
  server.send(shards)
  await server.ready()
  server.send({ ...terms, validForMs: 0 })
  await server.ended()
  expect(server.answers.slice(1)).toEqual([{ notMoved: expect.objectContaining({ code: 'order_late' }) }])
  expect(await rolesOf([primary, successor])).toEqual(['primary', 'replica'])
  expect(await primary.call('SET', 'k', 'w')).toBe('OK')
})

// invariant: No order of a replaced server moves a role.
test.each([
  ['before its shards are named', ''],
  ['before it is ordered', 'before pause'],
  ['while writes are stopped', 'before demote'],
] as const)(
  'a higher epoch that comes %s ends a move: no role changes, and the successor gets no order',
  async (_, at) => {
    let socketPath = ''
    await using group = await startGroup({
      async onEffect(phase, name) {
        if (`${phase} ${name}` === at) (await mustDial(socketPath, 's1', '1:5')).socket.destroy()
      },
    })
    const { home, primary, successor, terms } = group
    socketPath = home.socketPath
    const server = await order(socketPath, '1:4')
    if (at === '') (await mustDial(socketPath, 's1', '1:5')).socket.destroy()
    server.send(shards)
    await server.ready()
    server.send(terms)
    await server.ended()
    const by = at === '' ? 'stale' : 'cut'
    expect(server.answers.at(-1)).toEqual({ failed: expect.objectContaining({ by }) })
    expect(server.answers.some(({ giving }) => giving)).toBe(false)
    expect(await rolesOf([primary, successor])).toEqual(['primary', 'replica'])
  },
)

test('a move ends with its server: what was not done by then is not done', async () => {
  let leave = () => Promise.resolve()
  await using group = await startGroup({
    async onEffect(phase, name) {
      if (`${phase} ${name}` === 'before promote') await leave()
    },
  })
  const { home, primary, successor, terms } = group
  const server = await order(home.socketPath, '1:1')
  const closed = Promise.withResolvers<void>()
  leave = async () => {
    server.socket.destroy()
    // The agent has noticed it when it answers.
    await home.client.readLife({})
    closed.resolve()
  }
  server.send(shards)
  await server.ready()
  server.send(terms)
  await closed.promise
  await until(async () => (await rolesOf([primary]))[0] === 'replica')
  // The next orders come over other connections; of this one nothing is left.
  const next = await order(home.socketPath, '1:1')
  next.send(shards)
  await next.ready()
  expect(next.answers).toEqual([{ ready: true }])
  expect(await rolesOf([primary, successor])).toEqual(['replica', 'replica'])
  next.socket.destroy()
})

test('a shard that cannot be reached costs no connection to another one, however often it is tried', async () => {
  await using group = await startGroup()
  const { home, successor } = group
  const ours = async () => String(await successor.call('CLIENT', 'LIST')).split('user=fairlead').length
  const before = await ours()
  for (let n = 0; n < 40; n += 1) {
    const server = await order(home.socketPath, '1:1')
    server.send({ ...shards, primary: 'gone' })
    await server.ended()
    expect(server.answers).toEqual([{ failed: expect.objectContaining({ by: 'silence' }) }])
  }
  await until(async () => (await ours()) <= before)
})

test('an agent ends at once, also with a prepared move', async () => {
  await using group = await startGroup()
  const server = await order(group.home.socketPath, '1:1')
  server.send(shards)
  await server.ready()
  await group.agent[Symbol.asyncDispose]()
  await server.ended()
})

test('what is no order is refused, with the reason, and so is a shard that is not there', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ stoodStillMs: 60_000 })
  for (const [line, failed] of [
    [{ primary: 's1' }, { by: 'cut', why: expect.stringContaining('successor') }],
    [shards, { by: 'silence', why: expect.stringContaining('s1') }],
  ] as const) {
    const server = await order(home.socketPath, '1:1')
    server.send(line)
    await server.ended()
    expect(server.answers).toEqual([{ failed }])
  }
})
