import { expect, test } from 'vitest'
import { createAdmission } from '../../../src/listen/admission.ts'
import { openSentinel, type Sentinel } from '../../../src/sentinel/sentinel.ts'
import type { SentinelDatabase } from '../../../src/sentinel/sentinel-answers.ts'
import { matchesPattern } from '../../../src/sentinel/sentinel-patterns.ts'
import { dial, freePort, until } from '../../stage.ts'

const host = '127.0.0.1'
const orders = { name: 'orders', primary: { host, port: 7001 }, replicas: [{ host, port: 7002 }] }
const stock = { name: 'stock', primary: { host: '10.0.0.2', port: 7003 }, replicas: [] }

interface Stage extends AsyncDisposable {
  readonly port: number
  readonly sentinel: Sentinel
  databases: readonly SentinelDatabase[]
}

async function stageSentinel(most = 100): Promise<Stage> {
  const port = await freePort()
  const stage: { databases: readonly SentinelDatabase[] } = { databases: [orders, stock] }
  const sentinel = await openSentinel({
    host,
    port,
    admission: createAdmission(most),
    databases: () => stage.databases,
    onTrouble: (why) => expect.fail(why),
  })
  return Object.assign(stage, {
    port,
    sentinel,
    [Symbol.asyncDispose]: () => sentinel[Symbol.asyncDispose](),
  })
}

const bulks = (...texts: readonly string[]) => texts.map((text) => `$${text.length}\r\n${text}\r\n`).join('')
const list = (...texts: readonly string[]) => `*${texts.length}\r\n${bulks(...texts)}`
const described = (name: string, ip: string, port: string, role: string) => [
  'name',
  name,
  'ip',
  ip,
  'port',
  port,
  'runid',
  '',
  'flags',
  role,
  'role-reported',
  role,
]
const aboutOrders = [
  ...described('orders', host, '7001', 'master'),
  ...['config-epoch', '0', 'num-slaves', '1', 'num-other-sentinels', '0', 'quorum', '1'],
]
const aboutStock = [
  ...described('stock', '10.0.0.2', '7003', 'master'),
  ...['config-epoch', '0', 'num-slaves', '0', 'num-other-sentinels', '0', 'quorum', '1'],
]
const aboutReplica = [
  ...described(`${host}:7002`, host, '7002', 'slave'),
  ...['master-link-status', 'ok', 'master-host', host, 'master-port', '7001'],
  ...['slave-priority', '100', 'replica-announced', '1'],
]

test('a client is answered in turns of some 100 requests, however many it sends at once', async () => {
  await using stage = await stageSentinel()
  await using client = await dial(stage.port)
  let isAnswered = false
  let most = 0
  // Everything that arrived during one turn of the answerer: the test runs in the same thread.
  client.socket.on('data', (chunk: Buffer) => {
    most = Math.max(most, chunk.length / '+PONG\r\n'.length)
  })
  client.send('PING\r\n'.repeat(9_000))
  await using other = await dial(stage.port)
  const asked = other.ask('PING', '+PONG\r\n').then(() => {
    isAnswered = client.text().length < 9_000 * '+PONG\r\n'.length
  })
  await client.gets('+PONG\r\n'.repeat(9_000))
  await asked
  expect(isAnswered).toBe(true)
  expect(most).toBeLessThan(1_000)
})

test.for([
  ['PING', '+PONG\r\n'],
  ['PING hey', bulks('hey')],
  ['AUTH secret', '+OK\r\n'],
  ['AUTH user secret', '+OK\r\n'],
  ['AUTH', "-ERR wrong number of arguments for 'auth' command\r\n"],
  ['CLIENT SETNAME me', '+OK\r\n'],
  ['CLIENT SETINFO lib-name x', '+OK\r\n'],
  ['CLIENT GETNAME', '$-1\r\n'],
  ['CLIENT ID', ':1\r\n'],
  ['CLIENT KILL a', "-ERR unknown subcommand or wrong number of arguments for 'KILL'\r\n"],
  ['ROLE', `*2\r\n${bulks('sentinel')}${list('orders', 'stock')}`],
  ['SENTINEL get-master-addr-by-name orders', list(host, '7001')],
  ['sentinel GET-PRIMARY-ADDR-BY-NAME stock', list('10.0.0.2', '7003')],
  ['SENTINEL get-master-addr-by-name other', '*-1\r\n'],
  ['SENTINEL get-master-addr-by-name __proto__', '*-1\r\n'],
  ['SENTINEL masters', `*2\r\n${list(...aboutOrders)}${list(...aboutStock)}`],
  ['SENTINEL PRIMARIES', `*2\r\n${list(...aboutOrders)}${list(...aboutStock)}`],
  ['SENTINEL master stock', list(...aboutStock)],
  ['SENTINEL primary orders', list(...aboutOrders)],
  ['SENTINEL master other', '-ERR No such master with that name\r\n'],
  ['SENTINEL replicas orders', `*1\r\n${list(...aboutReplica)}`],
  ['SENTINEL slaves orders', `*1\r\n${list(...aboutReplica)}`],
  ['SENTINEL slaves stock', '*0\r\n'],
  ['SENTINEL sentinels orders', '*0\r\n'],
  [
    'SENTINEL ckquorum orders',
    '+OK 1 usable Sentinels. Quorum and failover authorization can be reached\r\n',
  ],
  ['SENTINEL ckquorum other', '-ERR No such master with that name\r\n'],
  ['SENTINEL master', "-ERR wrong number of arguments for 'sentinel|master' command\r\n"],
  [
    'SENTINEL failover orders',
    "-ERR unknown subcommand 'failover'. There are MASTERS, MYID, GET-MASTER-ADDR-BY-NAME, MASTER, REPLICAS, SLAVES, SENTINELS, CKQUORUM.\r\n",
  ],
  [
    'SENTINEL constructor',
    "-ERR unknown subcommand 'constructor'. There are MASTERS, MYID, GET-MASTER-ADDR-BY-NAME, MASTER, REPLICAS, SLAVES, SENTINELS, CKQUORUM.\r\n",
  ],
  ['GET a', "-ERR unknown command 'GET'\r\n"],
  ['HELLO 4', '-NOPROTO unsupported protocol version\r\n'],
  ['HELLO x', '-ERR Protocol version is not an integer or out of range\r\n'],
  ['HELLO 3 SETNAME', "-ERR Syntax error in HELLO option 'SETNAME'\r\n"],
  ['UNSUBSCRIBE', '*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n'],
])('in RESP2: $0', async ([line = '', reply = '']) => {
  await using stage = await stageSentinel()
  await using client = await dial(stage.port)
  await client.ask(line, reply)
})

test('RESP3 answers have maps, nulls, pushes and texts of their own, and HELLO 2 ends that', async () => {
  await using stage = await stageSentinel()
  await using client = await dial(stage.port)
  const modes = `${bulks('mode', 'sentinel', 'modules')}*0\r\n`
  const about = `${bulks('server', 'fairlead', 'version', '7.2.4', 'proto')}`
  await client.ask('HELLO 3 AUTH u p SETNAME me', `%6\r\n${about}:3\r\n${bulks('id')}:1\r\n${modes}`)
  await client.ask('CLIENT GETNAME', bulks('me'))
  await client.ask('SENTINEL get-master-addr-by-name other', '_\r\n')
  await client.ask('SENTINEL master stock', `%10\r\n${bulks(...aboutStock)}`)
  client.send('INFO sentinel\r\n')
  await until(() =>
    client.text().includes('sentinels=1\r\nmaster1:name=stock,status=ok,address=10.0.0.2:7003,slaves=0'),
  )
  expect(client.text()).toMatch(/^=\d+\r\ntxt:# Sentinel\r\nsentinel_masters:2\r\n/)
  await client.gets(client.text())
  await client.ask('SUBSCRIBE a', `>3\r\n${bulks('subscribe', 'a')}:1\r\n`)
  await client.ask('PING', '+PONG\r\n')
  await client.ask('HELLO 2', `*12\r\n${about}:2\r\n${bulks('id')}:1\r\n${modes}`)
  client.send('INFO\r\n')
  await client.gets(`-ERR Can't execute 'info'`)
})

test('subscribers get a message for a primary that has moved, by channel and by pattern, and no other message', async () => {
  await using stage = await stageSentinel()
  await using client = await dial(stage.port)
  await using other = await dial(stage.port)
  await client.ask('SUBSCRIBE +switch-master +sdown', `*3\r\n${bulks('subscribe', '+switch-master')}:1\r\n`)
  await client.gets(`*3\r\n${bulks('subscribe', '+sdown')}:2\r\n`)
  await client.ask('PSUBSCRIBE +s*', `*3\r\n${bulks('psubscribe', '+s*')}:3\r\n`)
  await client.ask('PING', list('pong', ''))
  await other.ask('HELLO 3', '%6\r\n')
  await until(() => other.text().endsWith('*0\r\n'))
  await other.gets(other.text())
  await other.ask('PSUBSCRIBE *', `>3\r\n${bulks('psubscribe', '*')}:1\r\n`)

  stage.sentinel.look()
  const moved = { ...orders, primary: { host, port: 7002 } }
  stage.databases = [moved, { ...stock, replicas: [orders.primary] }, { ...stock, name: 'new' }]
  stage.sentinel.look()
  const text = `orders ${host} 7001 ${host} 7002`
  await client.gets(list('message', '+switch-master', text) + list('pmessage', '+s*', '+switch-master', text))
  await other.gets(`>4\r\n${bulks('pmessage', '*', '+switch-master', text)}`)
  stage.sentinel.look()
  await client.ask('UNSUBSCRIBE', `*3\r\n${bulks('unsubscribe', '+switch-master')}:2\r\n`)
  await client.gets(`*3\r\n${bulks('unsubscribe', '+sdown')}:1\r\n`)
  await client.ask('PUNSUBSCRIBE +s*', `*3\r\n${bulks('punsubscribe', '+s*')}:0\r\n`)
  await client.ask('SENTINEL get-master-addr-by-name orders', list(host, '7002'))
  expect(other.text()).toBe('')
})

test('a client that sends many requests and reads no answers is not read any more, and gets all answers once it reads', async () => {
  await using stage = await stageSentinel()
  const name = 'x'.repeat(200)
  stage.databases = Array.from({ length: 500 }, (_, n) => ({ ...stock, name: `${name}${n}` }))
  await using client = await dial(stage.port)
  client.socket.pause()
  client.send('SENTINEL MASTERS\r\n'.repeat(300))
  const before = process.memoryUsage().rss
  await using other = await dial(stage.port)
  for (let n = 0; n < 20; n += 1) await other.ask('PING', '+PONG\r\n')
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000)
  let bytes = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  client.socket.resume()
  await other.ask('SENTINEL MASTERS', '*500\r\n')
  await until(() => other.text().length > 100_000)
  await until(
    () => bytes > 299 * other.text().length,
    () => `${bytes} bytes`,
  )
})

test('if all places are taken, the client that has been silent for the longest is closed', async () => {
  await using stage = await stageSentinel(2)
  await using client = await dial(stage.port)
  await client.ask('PING', '+PONG\r\n')
  await using silent = await dial(stage.port)
  await until(() => stage.sentinel.report().connections === 2)
  await client.ask('PING', '+PONG\r\n')
  await using other = await dial(stage.port)
  await other.ask('PING', '+PONG\r\n')
  await until(() => silent.ended())
  await client.ask('PING', '+PONG\r\n')
  expect(stage.sentinel.report().connections).toBe(2)
})

test('too much is refused: requests, subscriptions, clients', async () => {
  await using stage = await stageSentinel(1)
  await using client = await dial(stage.port)
  const names = Array.from({ length: 65 }, (_, n) => `c${n}`).join(' ')
  await client.ask(`SUBSCRIBE ${names}`, '-ERR more than 64 subscriptions\r\n')
  await client.ask(`SUBSCRIBE ${'x'.repeat(300)}`, '-ERR a name longer than 256\r\n')
  await client.ask('SUBSCRIBE n', '*3\r\n$9\r\nsubscribe\r\n$1\r\nn\r\n:1\r\n')
  await using second = await dial(stage.port)
  await second.gets('-ERR max number of clients reached\r\n')
  await until(() => second.ended())
  client.send(`*2\r\n$4\r\nPING\r\n$20000\r\n${'x'.repeat(20_000)}\r\n`)
  await client.gets('-ERR Protocol error: too big request\r\n')
  await until(() => client.ended() && stage.sentinel.report().connections === 0)
  await using third = await dial(stage.port)
  await third.ask('QUIT', '+OK\r\n')
  await until(() => third.ended() && stage.sentinel.report().connections === 0)
  await using fourth = await dial(stage.port)
  await fourth.ask('*x', '-ERR Protocol error: invalid multibulk length\r\n')
})

test.for([
  ['*', true],
  ['+switch-master', true],
  ['+s*r', true],
  ['+s*x', false],
  ['?switch?master', true],
  ['+[r-t]witch-mast[^a-d]r', true],
  ['+[^r-t]witch*', false],
  ['\\+switch-maste\\r', true],
  ['\\*', false],
  ['+switch', false],
  ['', false],
  ['+[s', false],
  [`${'*'.repeat(128)}x`, false],
  ['*?'.repeat(128), false],
])('the pattern $0', ([pattern, fits]) => {
  // A matcher that tried all possibilities would never end.
  expect(matchesPattern(String(pattern), '+switch-master')).toBe(fits)
})
