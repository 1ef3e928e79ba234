import { encodeCommand } from '@fairlead/engine'
import { afterEach, expect, test, vi } from 'vitest'
import { SLICE_MS } from '../../../src/handover/awake-timer.ts'
import { builds, dial, makePair, newest, until } from '../../stage.ts'
import { stopClock } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

test('commands without a reply are executed after the commands that are answered', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('SELECT 1\r\nCLIENT REPLY OFF\r\nSELECT 2\r\n')
  await client.gets('+OK\r\n')
  await pair.handOver()
  client.send('CLIENT REPLY ON\r\nSET k v\r\n')
  await client.gets('+OK\r\n+OK\r\n')
  expect(await pair.primary().admin('INFO keyspace')).toContain('db2:')
})

test('a transaction that begins without a reply is not taken for the one before', async () => {
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
  await pair.endpoint.hold({ deadlineMs: 60_000 })
  pair.endpoint.release()
  await client.ask('EXEC', '*1\r\n:1\r\n')
})

test.for(['MULTI x', 'DISCARD x', 'UNWATCH x', 'RESET x', 'WATCH'])(
  'a command of transactions that every engine refuses, %s, changes nothing that moves, though its refusal is not told',
  async (refused) => {
    await using pair = await makePair(newest, newest)
    await using client = await dial(pair.port)
    client.send(`CLIENT REPLY OFF\r\n${refused}\r\nSET a 1\r\n`)
    await until(async () => (await pair.primary().admin('GET a')) === '$1\r\n1\r\n')
    await pair.handOver()
    client.send('SET a 2\r\nCLIENT REPLY ON\r\nGET a\r\n')
    await client.gets('+OK\r\n$1\r\n2\r\n')
  },
)

test.for(['MULTI\r\nNONE\r\nSELECT 2', 'WATCH a\r\nSET a 0\r\nMULTI\r\nSELECT 2'])(
  'after a transaction without replies that changes the connection, and may have failed (%s), no write reaches another database: the client is closed',
  async (transaction) => {
    await using pair = await makePair(newest, newest)
    await using client = await dial(pair.port)
    client.send(`CLIENT REPLY OFF\r\n${transaction}\r\nEXEC\r\nSET a 1\r\n`)
    await until(async () => (await pair.primary().admin('GET a')) === '$1\r\n1\r\n')
    await pair.handOver()
    await until(client.ended)
    expect(client.text()).toContain('cannot follow its database: SELECT without a reply in a transaction')
  },
)

test.for(['DISCARD x', 'UNWATCH x', 'RESET x', 'WATCH'])(
  'a transaction without replies, of which the engine has refused %s, changes nothing at its EXEC, before and after it has moved',
  async (refused) => {
    await using pair = await makePair(newest, newest)
    await using client = await dial(pair.port)
    const aborted = `MULTI\r\n${refused}\r\nSELECT 2\r\nEXEC\r\n`
    client.send(`CLIENT REPLY OFF\r\n${aborted}SET a 1\r\nMULTI\r\n${refused}\r\nSELECT 3\r\n`)
    await until(async () => (await pair.primary().admin('GET a')) === '$1\r\n1\r\n')
    await pair.handOver()
    client.send('EXEC\r\nCLIENT REPLY ON\r\nGET a\r\n')
    await client.gets('+OK\r\n$1\r\n1\r\n')
  },
)

const opened = 'CLIENT REPLY OFF\r\nSET a 1\r\nMULTI\r\nSET b 1\r\nINCR c\r\n'

test.for(builds)(
  'a transaction that is open without replies moves with its connection, and delays no other client: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    client.send(opened)
    await until(async () => (await pair.primary().admin('GET a')) === '$1\r\n1\r\n')
    await pair.handOver()
    client.send('INCR c\r\n')
    await pair.handOver()
    expect(await pair.primary().admin('EXISTS b c')).toBe(':0\r\n')
    client.send('EXEC\r\nCLIENT REPLY ON\r\nGET c\r\nMULTI\r\nPING\r\nEXEC\r\n')
    await client.gets('+OK\r\n$1\r\n2\r\n+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n')
    expect(await pair.primary().admin('GET b')).toBe('$1\r\n1\r\n')
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
  },
)

test('an open transaction without replies also survives DISCARD, a hold without a move, and a long command that is under way', async () => {
  await using pair = await makePair(newest, newest)
  await using stays = await dial(pair.port)
  await using leaves = await dial(pair.port)
  await using long = await dial(pair.port)
  const half = 'x'.repeat(100_000)
  stays.send(opened)
  leaves.send('CLIENT REPLY OFF\r\nMULTI\r\nSET never 1\r\n')
  long.send(`CLIENT REPLY OFF\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$4\r\nlong\r\n$200000\r\n${half}`)
  const arrived = async () => [...(await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)]
  await until(async () => (await arrived()).some(([, bytes]) => Number(bytes) >= half.length))
  const held = pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  long.send(`${half}\r\n`)
  expect(await held).toMatchObject({ drained: true, late: 0 })
  pair.endpoint.release()
  leaves.send('DISCARD\r\n')
  await pair.handOver()
  for (const client of [stays, leaves, long]) client.send('EXEC\r\nCLIENT REPLY ON\r\nSTRLEN long\r\n')
  await long.gets('+OK\r\n:200000\r\n')
  await stays.gets('+OK\r\n')
  await leaves.gets('+OK\r\n')
  expect(await pair.primary().admin('MGET a b c never')).toBe(
    '*4\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$-1\r\n',
  )
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test('a subscriber with an open transaction without replies delays no publisher', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await using other = await dial(pair.port)
  client.send('HELLO 3\r\nSUBSCRIBE n\r\nECHO there\r\n')
  await until(() => client.text().endsWith('there\r\n'))
  await client.gets(client.text())
  client.send('CLIENT REPLY OFF\r\nMULTI\r\nINCR b\r\n')
  // The wait of a publisher would never end.
  stopClock(SLICE_MS)
  await pair.handOver()
  await other.ask('PUBLISH n hello', ':1\r\n')
  client.send('EXEC\r\nCLIENT REPLY ON\r\n')
  await client.gets('>3\r\n$7\r\nmessage\r\n$1\r\nn\r\n$5\r\nhello\r\n+OK\r\n')
  await other.ask('GET b', '$1\r\n1\r\n')
})

test('an invalid request gets no error while replies are off, and delays no other client', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send('CLIENT REPLY OFF\r\nSET a 1\r\n*x\r\n')
  await until(async () => (await pair.primary().admin('GET a')) === '$1\r\n1\r\n')
  await pair.handOver()
  await until(client.ended)
  expect(client.text()).toBe('')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test('a command without arguments is not taken for one with those of the next', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  const asked = [['UNSUBSCRIBE'], ['HELLO'], ['SELECT', '3'], ['MULTI'], ['INCR', 'a']]
  client.send(Buffer.concat(asked.map((each) => encodeCommand(each))))
  await until(() => client.text().endsWith('+QUEUED\r\n'))
  await client.gets(client.text())
  await pair.handOver()
  await client.ask('EXEC\r\nGET none', '*1\r\n:1\r\n$-1\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test('a subscriber in RESP2 is refused CLIENT REPLY, and moves unchanged', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  const refused = "-ERR Can't execute 'client|reply'"
  client.send('SUBSCRIBE n\r\nCLIENT REPLY SKIP\r\nPING\r\n')
  await until(() => client.text().endsWith('*2\r\n$4\r\npong\r\n$0\r\n\r\n'))
  await client.gets(client.text())
  await pair.handOver()
  client.send('CLIENT REPLY OFF\r\nRESET\r\nGET none\r\n')
  await until(() => client.text().endsWith('+RESET\r\n$-1\r\n'))
  expect(client.text()).toContain(refused)
  await client.gets(client.text())
  await pair.handOver()
  await client.ask('GET none', '$-1\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test('a command that is refused without a reply changes nothing, and closes no client', async () => {
  const refused = ['SELECT 99', 'CLIENT SETNAME "not allowed"', 'HELLO 4', 'CLIENT NO-EVICT maybe']
  const said = ['SELECT 2', 'CLIENT SETNAME x', 'HELLO 3', ...refused, 'MULTI', 'NONE', 'EXEC']
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  client.send(['CLIENT REPLY OFF', ...said, 'CLIENT REPLY ON', ''].join('\r\n'))
  await client.gets('+OK\r\n')
  await pair.handOver()
  await client.ask('SET k v\r\nCLIENT GETNAME\r\nGET none', '+OK\r\n$1\r\nx\r\n_\r\n')
  expect(await pair.primary().admin('INFO keyspace')).toContain('db2:')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test.for(['', 'EXEC\r\n'])(
  'a refused MULTI delays no other client, whichever commands follow it: %j',
  async (end) => {
    await using pair = await makePair(newest, newest)
    await using client = await dial(pair.port)
    await pair.a.admin('ACL SETUSER default -multi')
    client.send(`MULTI\r\nCLIENT REPLY OFF\r\n${end}SET a 1\r\n`)
    await until(async () => (await pair.a.admin('GET a')) === '$1\r\n1\r\n')
    await pair.handOver()
    await until(client.ended)
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
  },
)

test.for(builds)(
  'an empty request ends a SKIP, and a line of blanks does not, on every engine: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    for (const nothing of ['\r\n', '\n', '*0\r\n', '*-1\r\n', ' \r\n']) {
      client.send(`CLIENT REPLY SKIP\r\n${nothing}SET k v\r\n${nothing}ECHO a\r\n`)
      await client.gets(nothing.startsWith(' ') ? '$1\r\na\r\n' : '+OK\r\n$1\r\na\r\n')
    }
    await pair.handOver()
    await client.ask('GET k', '$1\r\nv\r\n')
  },
)
