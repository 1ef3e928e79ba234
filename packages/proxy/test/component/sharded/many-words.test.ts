import { createHash } from 'node:crypto'
import { encodeCommand } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, until } from '../../stage.ts'

const MANY = 160_000
const [key] = keyOf
const empty = '$0\r\n\r\n'

let cluster: Cluster
beforeAll(async () => {
  cluster = await makeCluster()
})
afterAll(async () => cluster[Symbol.asyncDispose]())

/** A request of `first` and MANY empty words. */
function request(...first: readonly string[]): string {
  const words = first.map((word) => `$${word.length}\r\n${word}\r\n`).join('')
  return `*${first.length + MANY}\r\n${words}${empty.repeat(MANY)}`
}

/**
 * Milliseconds of processor time: the sum, and the longest turn of the event loop. Client and endpoint are in
 * this process.
 */
async function costs(act: () => Promise<void>): Promise<{ readonly all: number; readonly most: number }> {
  const now = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const begin = now()
  let [turn, most, isOver] = [begin, 0, false]
  const look = () => {
    most = Math.max(most, now() - turn)
    turn = now()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await act()
  isOver = true
  return { all: now() - begin, most }
}

test.for([
  ['SCRIPT EXISTS', request('SCRIPT', 'EXISTS'), `*${MANY}\r\n${':0\r\n'.repeat(MANY)}`],
  ['CLIENT', request('CLIENT'), '-ERR'],
  ['CLIENT SETNAME', request('CLIENT', 'SETNAME'), '-ERR'],
  ['EVAL', request('EVAL', 'return 1', '1', key), ':1\r\n'],
  ['XREAD', request('XREAD'), '-ERR'],
  ['SCAN', request('SCAN', '0'), '-ERR'],
] as const)('%s with 160,000 words does not delay other clients', async ([what, bytes, answer]) => {
  // Noise of the machine is in one try or another, not in all.
  const tries: string[] = []
  for (let n = 0; n < 3; n += 1) {
    await using client = await dial(cluster.port)
    await client.ask('PING', '+PONG\r\n')
    await client.ask(`GET ${key}`, '$-1\r\n')
    const spent = await costs(async () => {
      client.send(bytes)
      await until(() => client.text().length >= answer.length)
    })
    expect(client.text().slice(0, answer.length) === answer).toBe(true)
    // This includes the client's own work and the engines' answers: work that is done in one turn shows as
    // half of the sum.
    if (spent.most < 250 && spent.most < spent.all * 0.4) return
    tries.push(`${spent.all.toFixed(0)} ms, the longest turn ${spent.most.toFixed(0)} ms`)
  }
  expect.fail(`${what}: ${tries.join('; ')}`)
})

test('SCRIPT EXISTS reports a script if every group has it, also of very many', async () => {
  await using client = await dial(cluster.port)
  const sha = createHash('sha1').update('return 7').digest('hex')
  await client.ask('SCRIPT LOAD "return 7"', `$40\r\n${sha}\r\n`)
  const words = [
    'SCRIPT',
    'EXISTS',
    ...Array.from({ length: 10_000 }, (_, n) => (n === 5_000 ? sha : 'none')),
  ]
  const expected = (found: number) =>
    `*10000\r\n${':0\r\n'.repeat(5_000)}:${found}\r\n${':0\r\n'.repeat(4_999)}`
  client.socket.write(encodeCommand(words))
  await client.gets(expected(1))
  await cluster.primaries[1]?.admin('SCRIPT FLUSH')
  client.socket.write(encodeCommand(words))
  await client.gets(expected(0))
})
