import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Redis } from 'iovalkey'
import { createSentinel } from 'redis'
import { describe, expect, test } from 'vitest'
import { stageSwitch } from '../../sentinel-stage.ts'
import { newest, oldest, programOf, until } from '../../stage.ts'

const host = '127.0.0.1'

/** A client that has asked the Sentinel, and increments a counter. */
interface Counter extends AsyncDisposable {
  increment(): Promise<unknown>
  /** The INFO of the engine that it is connected to. */
  info(): Promise<string>
}

/**
 * Unmodified libraries, configured only with the address of a Sentinel and the name of the database. ioredis:
 * sentinel.test.ts.
 */
const libraries: Readonly<Record<string, (sentinelPort: number) => Promise<Counter>>> = {
  async iovalkey(port) {
    const client = new Redis({
      sentinels: [{ host, port }],
      name: 'orders',
      failoverDetector: true,
      retryStrategy: () => 5,
      reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
    })
    client.on('error', () => undefined) // the call that failed reports it
    return {
      increment: () => client.incr('counter'),
      info: () => client.info('server'),
      [Symbol.asyncDispose]: async () => client.disconnect(),
    }
  },
  async 'node-redis'(port) {
    const client = createSentinel({ name: 'orders', sentinelRootNodes: [{ host, port }] })
    client.on('error', () => undefined) // the call that failed reports it
    await client.connect()
    return {
      increment: () => client.incr('counter'),
      info: async () => String(await client.sendCommand(false, ['INFO', 'server'])),
      [Symbol.asyncDispose]: async () => client.destroy(),
    }
  },
}

describe('an unmodified library that asks the Sentinel follows the role, and its acknowledged writes stay', () => {
  for (const [name, connect] of Object.entries(libraries)) {
    test(name, async () => {
      await using stage = await stageSwitch()
      const { pair, sentinelPort } = stage
      await using client = await connect(sentinelPort)
      const portOf = async () => Number(/tcp_port:(\d+)/.exec(await client.info())?.[1])
      expect(await portOf()).toBe(pair.a.port)
      for (let n = 1; n <= 20; n += 1) expect(Number(await client.increment())).toBe(n)
      await stage.switchRole()
      // Without the endpoint, connections are closed or refused once; refused commands were not executed.
      let acknowledged = 20
      const goesOn = async () => {
        const count = await client.increment().catch(() => null)
        if (count !== null) acknowledged += 1
        return acknowledged > 40
      }
      await until(goesOn, () => 'it does not go on')
      expect(await portOf()).toBe(pair.b.port)
      expect(await pair.b.admin('GET counter')).toContain(`\r\n${acknowledged}\r\n`)
    })
  }
})

test('the engines’ own command lines learn the address of the primary', async () => {
  await using stage = await stageSwitch()
  const { pair, sentinelPort } = stage
  const expectAnswer = async (name: string, answer: string) => {
    for (const build of [oldest, newest]) {
      const args = ['-p', String(sentinelPort), 'SENTINEL', 'get-master-addr-by-name', name]
      expect((await promisify(execFile)(programOf(build, 'cli'), args)).stdout, build).toBe(answer)
    }
  }
  await expectAnswer('orders', `${host}\n${pair.a.port}\n`)
  await stage.switchRole()
  await expectAnswer('orders', `${host}\n${pair.b.port}\n`)
  await expectAnswer('unknown', '\n')
})
