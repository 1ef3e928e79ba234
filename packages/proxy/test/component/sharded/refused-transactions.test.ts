import { test } from 'vitest'
import { dialServed, keyOf, makeCluster } from '../../sharded-stage.ts'

const [zero, one] = keyOf

test('what was watched for a transaction that was refused does not refuse the next one', async () => {
  await using cluster = await makeCluster()
  await using client = await dialServed(cluster.port)
  await using other = await dialServed(cluster.port)
  for (const key of [zero, one]) {
    await client.ask(`WATCH ${key}`, '+OK\r\n')
    await client.ask('MULTI', '+OK\r\n')
    await client.ask('DBSIZE', '-ERR DBSIZE cannot be part of a transaction in a sharded database\r\n')
    await client.ask('EXEC', '-EXECABORT Transaction discarded because of previous errors.\r\n')
    await other.ask(`SET ${key} 1`, '+OK\r\n')
    client.send(`MULTI\r\nINCR ${key}\r\nEXEC\r\n`)
    await client.gets('+OK\r\n+QUEUED\r\n*1\r\n:2\r\n')
  }
})

test('a client without the right to MULTI gets an answer to each command of its transaction', async () => {
  await using cluster = await makeCluster()
  for (const engine of cluster.primaries) await engine.admin('ACL SETUSER few on nopass ~* +@all -multi')
  await using client = await dialServed(cluster.port)
  await client.ask('AUTH few x', '+OK\r\n')
  await client.ask(`WATCH ${one}`, '+OK\r\n')
  client.send('MULTI\r\nDISCARD\r\nPING\r\n')
  await client.gets('+OK\r\n+OK\r\n+PONG\r\n')
  client.send(`WATCH ${one}\r\nMULTI\r\nEXEC\r\nPING\r\n`)
  await client.gets('+OK\r\n+OK\r\n-EXECABORT Transaction discarded because of previous errors.\r\n+PONG\r\n')
})
