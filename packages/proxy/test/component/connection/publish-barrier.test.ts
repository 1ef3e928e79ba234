import { encodeCommand } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { dial, makePair, newest, type Pair, until } from '../../stage.ts'

const subscribed = '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'

/** Hands over. The other threads wait for their subscribers until the returned function is called. */
async function handOverBehindBarrier(pair: Pair): Promise<() => void> {
  const { drained, why } = await pair.endpoint.hold({ deadlineMs: 60_000 })
  if (!drained) throw new Error(why)
  await pair.moveRole()
  const { promise, resolve } = Promise.withResolvers<void>()
  const others = { allThere: async () => undefined, allListen: () => promise }
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.primary().port }, undefined, others)
  return resolve
}

test.for([
  { what: 'a long message', text: 'x'.repeat(200_000), sentBefore: 0 },
  { what: 'a message of which a part came before the handover', text: 'hello', sentBefore: 30 },
  { what: 'a message of which a part came before its channel', text: 'hello', sentBefore: 9 },
])('no subscriber receives $what before all subscribers have moved', async ({ text, sentBefore }) => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  const bytes = Buffer.concat([encodeCommand(['PUBLISH', 'c', text]), encodeCommand(['PING'])])
  client.send(bytes.subarray(0, sentBefore))
  // When the second answer comes, it has been read.
  await using writer = await dial(pair.port)
  for (const _ of [1, 2]) await writer.ask('PING', '+PONG\r\n')
  const endPublishBarrier = await handOverBehindBarrier(pair)
  await using listener = await dial(pair.primary().port)
  await listener.ask('SUBSCRIBE c', subscribed)
  client.send(bytes.subarray(sentBefore))
  // Others are served; before their third answer the message would have arrived.
  for (let n = 1; n <= 3; n += 1) await writer.ask('INCR n', `:${n}\r\n`)
  expect(listener.text()).toBe('')
  endPublishBarrier()
  await client.gets(':1\r\n+PONG\r\n')
  await listener.gets(`*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$${text.length}\r\n${text}\r\n`)
})

test('subscribers are counted when all of them have moved', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await using writer = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  await writer.ask('PING', '+PONG\r\n')
  const endPublishBarrier = await handOverBehindBarrier(pair)
  client.send('PUBSUB NUMSUB c\r\nMULTI\r\nPUBSUB CHANNELS\r\nEXEC\r\n')
  for (let n = 1; n <= 3; n += 1) await writer.ask('INCR n', `:${n}\r\n`)
  await using listener = await dial(pair.primary().port)
  await listener.ask('SUBSCRIBE c', subscribed)
  endPublishBarrier()
  await client.gets('*2\r\n$1\r\nc\r\n:1\r\n+OK\r\n+QUEUED\r\n*1\r\n*1\r\n$1\r\nc\r\n')
})

test('a count of 200 subscribers that is asked for all the time is 200 before and after each handover', async () => {
  await using pair = await makePair(newest, newest)
  await using subscribers = new AsyncDisposableStack()
  const subscribe = async () => subscribers.use(await dial(pair.port)).ask('SUBSCRIBE c', subscribed)
  await Promise.all(Array.from({ length: 200 }, subscribe))
  await using client = await dial(pair.port)
  let isOver = false
  const count = async () => {
    while (!isOver) await client.ask('PUBSUB NUMSUB c', '*2\r\n$1\r\nc\r\n:200\r\n')
  }
  const handOverFourTimes = async () => {
    for (let n = 0; n < 4; n += 1) {
      // Former links are closed after the moves of clients.
      const isLeft = async () => (await pair.successor().admin('PUBSUB NUMSUB c')).endsWith(':0\r\n')
      await until(isLeft)
      await pair.handOver()
    }
    isOver = true
  }
  await Promise.all([count(), handOverFourTimes()])
})

test('a switch goes on, and messages are delivered, even if other threads fail', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  const { drained } = await pair.endpoint.hold({ deadlineMs: 60_000 })
  expect(drained).toBe(true)
  await pair.moveRole()
  const fail = () => Promise.reject(new Error('gone'))
  const others = { allThere: fail, allListen: fail }
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.primary().port }, undefined, others)
  await client.ask('PUBLISH c hello\r\nINCR n', ':0\r\n:1\r\n')
  await pair.handOver()
  await client.ask('INCR n', ':2\r\n')
  expect(pair.endpoint.report().lastError).toBe('others could not be waited for: gone')
})
