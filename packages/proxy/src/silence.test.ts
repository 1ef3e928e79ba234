import { expect, test } from 'vitest'
import { dial, makePair, newest } from '../test/stage.ts'

test('what is said without a reply comes behind what is answered', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('SELECT 1\r\nCLIENT REPLY OFF\r\nSELECT 2\r\n')
  await client.gets('+OK\r\n')
  await pair.handOver()
  client.send('CLIENT REPLY ON\r\nSET k v\r\n')
  await client.gets('+OK\r\n+OK\r\n')
  expect(await pair.primary().admin('INFO keyspace')).toContain('db2:')
})

test('a transaction that begins without a reply is another than the one before', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('MULTI\r\nSET a 1\r\nEXEC\r\nCLIENT REPLY SKIP\r\nMULTI\r\nINCR b\r\n')
  await client.gets('+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n+QUEUED\r\n')
  await pair.handOver()
  await client.ask('EXEC', '*1\r\n:1\r\n')
})

test('a hold that is given up leaves no command in a transaction', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('CLIENT REPLY SKIP\r\nSET a 1\r\nMULTI\r\nINCR b\r\n')
  await client.gets('+OK\r\n+QUEUED\r\n')
  await pair.endpoint.hold({ deadlineMs: 2_000 })
  pair.endpoint.release()
  await client.ask('EXEC', '*1\r\n:1\r\n')
})
