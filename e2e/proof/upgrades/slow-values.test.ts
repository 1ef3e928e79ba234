import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()
/** The number of clients: each group of a sharded database has some. */
const CLIENTS = 6
const BYTES = 2 * 1024 * 1024
const COUNT = "redis.call('INCR', KEYS[1]) return #ARGV[1]"

test.for([{ groups: 1 }, { groups: 2 }])(
  'clients that stop in the middle of 2 MB notice no upgrade of $groups group(s), and each of their requests is carried out once',
  { timeout: 120_000 },
  async ({ groups }) => {
    await using fairlead = await startFairlead()
    const { api } = fairlead
    const created = await api.createDatabase({
      body: {
        name: 'slow',
        memory_size: 0,
        replication: false,
        engine_version: from,
        ...(groups > 1 && { shards_count: groups }),
      },
    })
    await fairlead.untilEnded(created.action_uid)
    const params = { uid: created.uid }
    const { port, authentication_engine_pass: password = '' } = await api.getDatabase({ params })
    await using stack = new AsyncDisposableStack()
    const value = Buffer.alloc(BYTES, 'x')
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, n) => {
        const client = stack.use(await dial(port))
        await client.ask(`AUTH default ${password}\r\n`, '+OK\r\n')
        const words = ['EVAL', COUNT, '1', `n${n}`]
        const begun = words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')
        client.send(`*5\r\n${begun}$${BYTES}\r\n`)
        client.send(value.subarray(0, BYTES / 2))
        return client
      }),
    )
    const { action_uid } = await api.upgradeDatabase({
      params,
      body: { engine_version: to, rollback_window: 0 },
    })
    expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed', warnings: [] })
    for (const client of clients) {
      client.send(value.subarray(BYTES / 2))
      await client.ask('\r\n', `:${BYTES}\r\n`)
    }
    for (const [n, client] of clients.entries()) await client.ask(`GET n${n}\r\n`, '$1\r\n1\r\n')
  },
)

/** A client that sees bytes as they are. */
async function dial(port: number) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let came = ''
  let isOpen = true
  socket.on('data', (bytes: Buffer) => {
    came += bytes.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isOpen = false
  })
  await once(socket, 'connect')
  const send = (bytes: string | Buffer) => void socket.write(bytes)
  return {
    send,
    async ask(request: string, answer: string) {
      send(request)
      const isThere = () => came.length >= answer.length || !isOpen
      await until(`the answer ${answer}`, isThere, { withinMs: 60_000 })
      expect(came).toBe(answer)
      came = ''
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}
