import { once } from 'node:events'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { runProxy } from '../../run-proxy.ts'
import { params, stageSwitch } from '../../sentinel-stage.ts'
import { dial, freePort, until } from '../../stage.ts'

const host = '127.0.0.1'

const portOf = async (redis: Redis) => Number(/tcp_port:(\d+)/.exec(await redis.info('server'))?.[1])

test('an unmodified ioredis in Sentinel mode follows the role, and each write is done once', async () => {
  await using stage = await stageSwitch()
  const { pair, sentinelPort } = stage
  const redis = new Redis({
    sentinels: [{ host, port: sentinelPort }],
    name: 'orders',
    failoverDetector: true,
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
    retryStrategy: () => 5,
    maxRetriesPerRequest: null,
  })
  redis.on('error', () => undefined)
  expect(await portOf(redis)).toBe(pair.a.port)
  let acknowledged = 0
  let isOver = false
  const write = async () => {
    while (!isOver) {
      await redis.incr('counter')
      acknowledged += 1
    }
  }
  const writers = [write(), write(), write()]
  await until(() => acknowledged > 50)
  await stage.switchRole()
  const before = acknowledged
  await until(() => acknowledged > before + 50)
  isOver = true
  await Promise.all(writers)
  expect(await portOf(redis)).toBe(pair.b.port)
  expect(Number(await redis.get('counter'))).toBe(acknowledged)
  redis.disconnect()
})

test('a client that only listens for +switch-master connects to the new primary without a refused write', async () => {
  await using stage = await stageSwitch()
  const { pair, proxy, sentinelPort } = stage
  await using listener = await dial(sentinelPort)
  await listener.ask('SUBSCRIBE +switch-master', '*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n')
  const options = { sentinels: [{ host, port: sentinelPort }], name: 'orders', retryStrategy: () => 5 }
  const redis = new Redis({ ...options, failoverDetector: true })
  await once(redis, 'failoverSubscribed')
  expect(await portOf(redis)).toBe(pair.a.port)
  await stage.switchRole()
  const text = `orders ${host} ${pair.a.port} ${host} ${pair.b.port}`
  await listener.gets(`*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$${text.length}\r\n${text}\r\n`)
  await until(async () => (await portOf(redis)) === pair.b.port)
  expect(await redis.set('k', 'v')).toBe('OK')
  redis.disconnect()

  // The list of replicas is as old as the last order; the primary is not among them.
  await using asking = await dial(sentinelPort)
  await asking.ask('SENTINEL REPLICAS orders', '*0\r\n')
  const { sentinel } = await proxy.client.reportProxy({})
  expect(sentinel).toMatchObject({ port: sentinelPort, state: 'serving', why: '', databases: 1 })
})

test('replicas are reported, and a spec that differs only in reported facts closes no connection', async () => {
  await using stage = await stageSwitch()
  const { pair, proxy, wanted, sentinelPort } = stage
  await using client = await dial(wanted.port)
  await client.ask('PING', '+PONG\r\n')
  const replica = new Redis({ sentinels: [{ host, port: sentinelPort }], name: 'orders', role: 'slave' })
  expect(await portOf(replica)).toBe(pair.b.port)
  replica.disconnect()

  const { replicas: _, ...rest } = wanted
  await proxy.client.putEndpoint({ params, body: { ...rest, name: 'invoices' } })
  await using asking = await dial(sentinelPort)
  await asking.ask('SENTINEL REPLICAS invoices', '*0\r\n')
  await asking.ask('SENTINEL MASTER orders', '-ERR No such master with that name\r\n')
  await client.ask('PING', '+PONG\r\n')
  await proxy.client.removeEndpoint({ params })
  await asking.ask('SENTINEL MASTERS', '*0\r\n')
})

test('a taken port is reported and tried again, and delays nothing else', async () => {
  const sentinelPort = await freePort()
  const squatter = createServer().listen(sentinelPort, host)
  await once(squatter, 'listening')
  await using proxy = await runProxy({ sentinelPort })
  const { sentinel } = await proxy.client.reportProxy({})
  expect(sentinel).toMatchObject({ state: 'failed', why: expect.stringContaining('EADDRINUSE') })
  squatter.close()
  await until(async () => (await proxy.client.reportProxy({})).sentinel.state === 'serving')
  await using client = await dial(sentinelPort)
  await client.ask('PING', '+PONG\r\n')
})
