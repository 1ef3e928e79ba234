import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import { builds, dial, newest, until } from '../../stage.ts'

const [zero, one, two] = keyOf
const DEPTH = 16

/** Resolves when the process has ended. */
async function kill(engine: ChildProcess | undefined): Promise<void> {
  engine?.kill('SIGKILL')
  if (engine?.exitCode === null && engine.signalCode === null) await once(engine, 'exit')
}

/**
 * Increments counters in all groups in turn, DEPTH at a time, and checks that each answer is the next number.
 */
async function countUp(port: number, name: string, signal: AbortSignal): Promise<number> {
  const keys = keyOf.map((key) => `${key}${name}`)
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let rest = ''
  let answered = 0
  let sent = 0
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const send = () => {
    if (signal.aborted && sent % 3 === 0) {
      resolve(sent / 3)
      return
    }
    let bytes = ''
    for (let n = 0; n < DEPTH; n += 1, sent += 1) bytes += `INCR ${keys[sent % 3]}\r\n`
    socket.write(bytes)
  }
  socket.on('connect', send)
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const next = `:${Math.floor(answered / 3) + 1}`
      if (line !== next) reject(new Error(`${name}: wanted ${next}, got ${line}`))
      answered += 1
    }
    if (answered === sent) send()
  })
  socket.on('close', () => reject(new Error(`${name}: the connection was closed`)))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

test('each group hands over under load: nothing lost, nothing twice, no client disconnected', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  await using other = await dial(cluster.port)
  // The client opens its links before the load begins: on a busy machine that may take longer than a client
  // waits.
  for (const key of keyOf) await other.ask(`GET ${key}t`, '$-1\r\n')
  const stop = new AbortController()
  const names = Array.from({ length: 12 }, (_, n) => `n${n}`)
  const counting = Promise.all(names.map((name) => countUp(cluster.port, name, stop.signal)))
  const failed = counting.then(
    () => null,
    (cause: unknown) => cause,
  )
  for (const [n, group] of [0, 1, 2, 0, 1, 2].entries()) {
    const key = keyOf[group]
    const { commands } = cluster.endpoint.report()
    await other.ask('MULTI', '+OK\r\n')
    await other.ask(`INCR ${key}t`, '+QUEUED\r\n')
    await cluster.handOver(group)
    await other.ask(`INCR ${key}t`, '+QUEUED\r\n')
    const times = n < 3 ? 0 : 2
    await other.ask('EXEC', `*2\r\n:${times + 1}\r\n:${times + 2}\r\n`)
    await until(() => cluster.endpoint.report().commands > commands + 2_000)
  }
  stop.abort()
  expect(await failed).toBe(null)
  for (const [n, count] of (await counting).entries())
    for (const key of keyOf) await other.ask(`GET ${key}n${n}`, `$${String(count).length}\r\n${count}\r\n`)
  expect(cluster.endpoint.report()).toMatchObject({ repoints: 6, errors: 0, failedHolds: 0, connections: 1 })
})

test('while one group is held, the others answer, and the held one answers in its turn', async () => {
  await using cluster = await makeCluster()
  await using client = await dial(cluster.port)
  await using both = await dial(cluster.port)
  for (const key of keyOf) await client.ask(`SET ${key} ${key}`, '+OK\r\n')
  expect(await cluster.endpoint.hold({ deadlineMs: 60_000, slot: 0 })).toMatchObject({ drained: true })
  await client.ask(`GET ${one}`, `$4\r\n${one}\r\n`)
  await client.ask(`GET ${two}`, `$4\r\n${two}\r\n`)
  both.send(`GET ${one}\r\nINCR n{a}\r\nINCR n${zero}\r\nINCR n{a}\r\n`)
  await both.gets(`$4\r\n${one}\r\n:1\r\n`)
  // It was executed, but its answer waits for the earlier one.
  await until(async () => ((await cluster.primaries[2]?.admin('GET n{a}')) ?? '').includes('\r\n2\r\n'))
  expect(both.text()).toBe('')
  cluster.endpoint.release(0)
  await both.gets(':1\r\n:2\r\n')
})

test('a slow client delays no other, and no reply comes before its turn', async () => {
  await using cluster = await makeCluster()
  await using client = await dial(cluster.port)
  await client.ask(`SETRANGE ${one} 300000 x`, ':300001\r\n')
  for (const key of keyOf) await client.ask(`SET ${key}v ${key}`, '+OK\r\n')
  cluster.primaries[0]?.process.kill('SIGSTOP')
  client.send(`GET ${zero}v\r\n${`GET ${one}\r\nGET ${two}v\r\n`.repeat(200)}`)
  await using other = await dial(cluster.port)
  await other.ask(`GET ${two}v`, `$4\r\n${two}\r\n`)
  // Replies that come too early are not read from their engine until their turn.
  const clients = async () => (await cluster.primaries[1]?.admin('CLIENT LIST')) ?? ''
  await until(async () => /omem=[1-9]\d{6,}/.test(await clients()))
  await delay(500)
  expect(await clients()).toMatch(/omem=[1-9]\d{6,}/)
  expect(client.text()).toBe('')
  cluster.primaries[0]?.process.kill('SIGCONT')
  const large = `$300001\r\n${'\0'.repeat(300_000)}x\r\n`
  await client.gets(`$4\r\n${zero}\r\n${`${large}$4\r\n${two}\r\n`.repeat(200)}`)
})

test.for([...new Set([builds.at(0) ?? newest, newest])])(
  'a role that moved without the endpoint, and slots that moved, are found without an error: %s',
  async (build) => {
    await using cluster = await makeCluster({ build, withReplicas: true })
    await using client = await dial(cluster.port)
    for (const key of keyOf) await client.ask(`SET ${key} 1`, '+OK\r\n')
    const port = await cluster.moveRole(1)
    client.send(
      `${keyOf.map((key) => `INCR ${key}\r\n`).join('')}${keyOf.map((key) => `INCR ${key}\r\n`).join('')}`,
    )
    await client.gets(':2\r\n:2\r\n:2\r\n:3\r\n:3\r\n:3\r\n')
    expect(cluster.endpoint.wanted.shards?.map(({ upstream }) => upstream.port)).toEqual([
      cluster.primaries[0]?.port,
      port,
      cluster.primaries[2]?.port,
    ])
  },
)

test('one of two held groups goes on when it is released', async () => {
  await using cluster = await makeCluster()
  await using client = await dial(cluster.port)
  for (const key of [zero, one]) await client.ask(`SET ${key} 1`, '+OK\r\n')
  await cluster.endpoint.hold({ deadlineMs: 60_000, slot: 0 })
  await cluster.endpoint.hold({ deadlineMs: 60_000, slot: 8_000 })
  cluster.endpoint.release(0)
  await client.ask(`INCR ${zero}`, ':2\r\n')
  client.send(`INCR ${one}\r\n`)
  expect(cluster.endpoint.report().isHeld).toBe(true)
  expect(client.text()).toBe('')
  cluster.endpoint.release(8_000)
  await client.gets(':2\r\n')
  expect(cluster.endpoint.report().isHeld).toBe(false)
})

test('requests for a slot go to the right engine while it is migrated and afterwards', async () => {
  await using cluster = await makeCluster()
  await using client = await dial(cluster.port)
  await client.ask(`SET ${zero} 1`, '+OK\r\n')
  await client.ask(`SET ${two} 1`, '+OK\r\n')
  const [from, , to] = cluster.primaries
  if (from === undefined || to === undefined) throw new Error('no engines')
  const slot = /:(\d+)/.exec(await from.admin(`CLUSTER KEYSLOT ${zero}`))?.[1]
  const idOf = async (engine: typeof from) => /[0-9a-f]{40}/.exec(await engine.admin('CLUSTER MYID'))?.[0]
  const [fromId, toId] = [await idOf(from), await idOf(to)]
  await to.admin(`CLUSTER SETSLOT ${slot} IMPORTING ${fromId}`)
  await from.admin(`CLUSTER SETSLOT ${slot} MIGRATING ${toId}`)
  await client.ask(`INCR ${zero}`, ':2\r\n')
  await from.admin(`MIGRATE 127.0.0.1 ${to.port} ${zero} 0 1000`)
  await client.ask(`INCR ${zero}`, ':3\r\n')
  await to.admin(`CLUSTER SETSLOT ${slot} NODE ${toId}`)
  await from.admin(`CLUSTER SETSLOT ${slot} NODE ${toId}`)
  client.send(`INCR ${zero}\r\nINCR ${two}\r\nINCR ${zero}\r\n`)
  await client.gets(':4\r\n:2\r\n:5\r\n')
})

test('commands to a group that is dead get an error, and other groups go on', async () => {
  await using cluster = await makeCluster()
  await using client = await dial(cluster.port)
  await client.ask(`SET ${zero} 1`, '+OK\r\n')
  // Until the process is gone, its port accepts the command, which is then under way (below).
  await kill(cluster.primaries[1]?.process)
  for (const engine of cluster.primaries.filter((_, n) => n !== 1))
    await engine.admin('CONFIG SET cluster-require-full-coverage no')
  client.send(`GET ${one}\r\nGET ${zero}\r\n`)
  await client.gets('-LOADING the database cannot be reached right now; try again\r\n$1\r\n1\r\n')
  await client.ask(`GET ${zero}`, '$1\r\n1\r\n')
  // A command that is under way when its group dies may have been executed or not: so the connection is
  // closed.
  await using waits = await dial(cluster.port)
  waits.send(`BLPOP ${two} 0\r\n`)
  await until(
    async () => (await cluster.primaries[2]?.admin('INFO clients'))?.includes('blocked_clients:1') ?? false,
  )
  await kill(cluster.primaries[2]?.process)
  await until(() => waits.ended())
  await client.ask(`GET ${zero}`, '$1\r\n1\r\n')
})

test('subscriptions, blocked commands and caches follow a handover', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  await using listens = await dial(cluster.port)
  await listens.ask('SUBSCRIBE news', '*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n')
  await using waits = await dial(cluster.port)
  waits.send(`BLPOP ${zero} 0\r\nGET ${one}\r\n`)
  await until(
    async () => (await cluster.primaries[0]?.admin('INFO clients'))?.includes('blocked_clients:1') ?? false,
  )
  await cluster.handOver(0)
  await using client = await dial(cluster.port)
  await client.ask('PUBLISH news hey', ':1\r\n')
  await listens.gets('*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$3\r\nhey\r\n')
  await client.ask(`SET ${one} v`, '+OK\r\n')
  await client.ask(`RPUSH ${zero} v`, ':1\r\n')
  await waits.gets(`*2\r\n$4\r\n${zero}\r\n$1\r\nv\r\n$1\r\nv\r\n`)
})
