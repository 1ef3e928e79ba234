import { expect, test } from 'vitest'
import { builds, dial, makePair, newest, oldest, until } from '../../stage.ts'

const pairs = [
  [oldest, newest],
  ['valkey-8.1.1', 'valkey-9.1.2'],
] as const

test.for(pairs)(
  'login, protocol, database, name and tracking follow the role: %s to %s',
  async ([from, to]) => {
    await using pair = await makePair(from, to)
    for (const engine of [pair.a, pair.b]) await engine.admin('ACL SETUSER ann on >pw ~* &* +@all')
    await using three = await dial(pair.port)
    three.send('HELLO 3 AUTH ann pw SETNAME t3\r\n')
    await until(() => three.text().includes('modules'))
    await until(() => three.text().endsWith('*0\r\n'))
    await three.gets(three.text())
    await three.ask('SELECT 3', '+OK\r\n')
    await three.ask('SET k v3', '+OK\r\n')
    await three.ask('CLIENT TRACKING ON BCAST', '+OK\r\n')
    await using two = await dial(pair.port)
    await two.ask('AUTH ann pw', '+OK\r\n')
    await two.ask('CLIENT SETNAME t2', '+OK\r\n')

    await pair.handOver()

    await three.gets('>2\r\n$10\r\ninvalidate\r\n_\r\n')
    await three.ask('GET k', '$2\r\nv3\r\n')
    await three.ask('GET none', '_\r\n')
    await three.ask('CLIENT GETNAME', '$2\r\nt3\r\n')
    await three.ask('ACL WHOAMI', '$3\r\nann\r\n')
    await two.ask('ACL WHOAMI', '$3\r\nann\r\n')
    await two.ask('CLIENT GETNAME', '$2\r\nt2\r\n')
    await two.ask('GET k', '$-1\r\n')
    await two.ask('SET k2 v', '+OK\r\n')
    await three.gets('>2\r\n$10\r\ninvalidate\r\n*1\r\n$2\r\nk2\r\n')
  },
)

test.for(pairs)(
  'a name that HELLO has set follows also if the user may not send CLIENT SETNAME: %s to %s',
  async ([from, to]) => {
    await using pair = await makePair(from, to)
    for (const engine of [pair.a, pair.b])
      await engine.admin('ACL SETUSER ann on >pw ~* &* +@all -client +client|getname')
    const open = async (protocol: number) => {
      const client = await dial(pair.port)
      client.send(`HELLO ${protocol} AUTH ann pw SETNAME worker\r\n`)
      await until(() => client.text().endsWith('*0\r\n'))
      await client.gets(client.text())
      return client
    }
    await using three = await open(3)
    await using two = await open(2)
    await pair.handOver()
    for (const each of [three, two]) await each.ask('CLIENT GETNAME', '$6\r\nworker\r\n')
    await three.ask('GET none', '_\r\n')
    await two.ask('GET none', '$-1\r\n')
  },
)

test.for(pairs)(
  'an open transaction is executed completely, on the new primary: %s to %s',
  async ([from, to]) => {
    await using pair = await makePair(from, to)
    await using client = await dial(pair.port)
    await client.ask('MULTI', '+OK\r\n')
    await client.ask('INCR n', '+QUEUED\r\n')
    await client.ask('SET s "a b"', '+QUEUED\r\n')
    await pair.handOver()
    await client.ask('INCR n', '+QUEUED\r\n')
    await pair.handOver()
    await client.ask('EXEC', '*3\r\n:1\r\n+OK\r\n:2\r\n')
    await client.ask('GET s', '$3\r\na b\r\n')
    // A transaction of which the engine has refused a part stays refused.
    await client.ask('MULTI', '+OK\r\n')
    client.send('INCR\r\n')
    await until(() => client.text().endsWith('\r\n'))
    await client.gets(client.text())
    await pair.handOver()
    await client.ask('EXEC', '-EXECABORT Transaction discarded because of previous errors.\r\n')
    await client.ask('GET n', '$1\r\n2\r\n')
  },
)

test.for(pairs)(
  'a login that is refused inside of a transaction delays no handover: %s to %s',
  async ([from, to]) => {
    await using pair = await makePair(from, to)
    await using client = await dial(pair.port)
    await using other = await dial(pair.port)
    client.send('MULTI\r\nAUTH nobody wrong\r\nEXEC\r\n')
    // Engines before valkey 9 never send more than this.
    await client.gets('+OK\r\n+QUEUED\r\n*1\r\n')
    await pair.handOver()
    await other.ask('SET k v', '+OK\r\n')
  },
)

test('watched keys count as changed, once', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  await client.ask('WATCH k', '+OK\r\n')
  await pair.handOver()
  await client.ask('MULTI', '+OK\r\n')
  await client.ask('SET k 1', '+QUEUED\r\n')
  // In pieces: nothing of EXEC may be sent before the command is recognized.
  for (const piece of ['*1\r', '\n$4\r\n', 'EX']) {
    client.send(piece)
    await pair.primary().admin('PING')
  }
  client.send('EC\r\nMULTI\r\nSET k 2\r\nEXEC\r\nGET k\r\n')
  await client.gets('*-1\r\n+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n$1\r\n2\r\n')

  await client.ask('WATCH k', '+OK\r\n')
  await pair.handOver()
  client.send('UNWATCH\r\nMULTI\r\nEXEC\r\n')
  await client.gets('+OK\r\n+OK\r\n*0\r\n')
})

test.for(pairs)(
  'a client that waits for a list keeps waiting, for the remaining time: %s to %s',
  async ([from, to]) => {
    await using pair = await makePair(from, to)
    await using waits = await dial(pair.port)
    await using briefly = await dial(pair.port)
    await using reads = await dial(pair.port)
    await using other = await dial(pair.port)
    await using watch = await dial(pair.successor().port)
    await watch.ask('MONITOR', '+OK\r\n')
    waits.send('BLPOP q 0\r\nPING\r\n')
    briefly.send('BLPOP none 100\r\n')
    reads.send('XREAD BLOCK 0 STREAMS s $\r\n')
    await until(async () => (await pair.primary().admin('INFO clients')).includes('blocked_clients:3'))
    await pair.handOver()
    await other.ask('LPUSH q item', ':1\r\n')
    await waits.gets('*2\r\n$1\r\nq\r\n$4\r\nitem\r\n+PONG\r\n')
    await other.ask('XADD s 1-1 f v', '$3\r\n1-1\r\n')
    await reads.gets('*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n')
    const left = () => /"BLPOP" "none" "([\d.]+)"/i.exec(watch.text())?.[1]
    await until(() => left() !== undefined)
    expect(Number(left())).toBeGreaterThan(0)
    expect(Number(left())).toBeLessThan(100)
    await other.ask('LPUSH none item', ':1\r\n')
    await briefly.gets('*2\r\n$4\r\nnone\r\n$4\r\nitem\r\n')
  },
)

// invariant: A blocking command is sent again only after its engine has ended it.
test('a blocking command is sent again also if the engine does not end it by itself', async () => {
  await using pair = await makePair()
  await using waits = await dial(pair.port)
  waits.send('BLPOP q 0\r\n')
  await until(async () => (await pair.primary().admin('INFO clients')).includes('blocked_clients:1'))
  // Both are primaries: nothing is demoted here.
  await pair.b.admin('REPLICAOF NO ONE')
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  await pair.b.admin('LPUSH q item')
  await waits.gets('*2\r\n$1\r\nq\r\n$4\r\nitem\r\n')
})

test.for([2, 3])('a subscriber stays subscribed, RESP%s', async (protocol) => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  const type = protocol === 3 ? '>' : '*'
  if (protocol === 3) {
    client.send('HELLO 3\r\n')
    await until(() => client.text().includes('modules') && client.text().endsWith('*0\r\n'))
    await client.gets(client.text())
  }
  await client.ask(
    'SUBSCRIBE a b',
    `${type}3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n${type}3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n`,
  )
  await client.ask('PSUBSCRIBE p*', `${type}3\r\n$10\r\npsubscribe\r\n$2\r\np*\r\n:3\r\n`)
  await client.ask('UNSUBSCRIBE b', `${type}3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:2\r\n`)
  await using other = await dial(pair.port)
  for (let n = 0; n < 4; n += 1) {
    await other.ask(`PUBLISH a ${n}`, ':1\r\n')
    await other.ask('PUBLISH b no', ':0\r\n')
    await pair.handOver()
    await other.ask(`PUBLISH px ${n}`, ':1\r\n')
    await client.gets(`${type}3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n${n}\r\n`)
    await client.gets(`${type}4\r\n$8\r\npmessage\r\n$2\r\np*\r\n$2\r\npx\r\n$1\r\n${n}\r\n`)
  }
  await client.ask('PING', protocol === 3 ? '+PONG\r\n' : '*2\r\n$4\r\npong\r\n$0\r\n\r\n')
  await client.ask('UNSUBSCRIBE', `${type}3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n`)
})

test('a client that wants no replies gets none, and loses nothing', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  client.send(`CLIENT REPLY OFF\r\nSELECT 2\r\n${'INCR n\r\n'.repeat(100)}`)
  await pair.handOver()
  client.send('INCR n\r\n')
  await pair.handOver()
  await client.ask('CLIENT REPLY ON', '+OK\r\n')
  await client.ask('GET n', '$3\r\n101\r\n')
  client.send('CLIENT REPLY SKIP\r\n')
  await until(() => pair.endpoint.report().commands === 106)
  await pair.handOver()
  client.send('INCR n\r\nGET n\r\n')
  await client.gets('$3\r\n102\r\n')
})

test('a connection that cannot be moved gets an error and is closed; others do not notice', async () => {
  await using pair = await makePair()
  await using monitor = await dial(pair.port)
  await using other = await dial(pair.port)
  await monitor.ask('MONITOR', '+OK\r\n')
  await other.ask('SET k v', '+OK\r\n')
  await until(() => monitor.text().includes('"SET" "k" "v"'))
  await pair.handOver()
  await until(() => monitor.ended())
  expect(monitor.text()).toContain('-ERR this connection cannot follow its database: MONITOR\r\n')
  await other.ask('GET k', '$1\r\nv\r\n')
})

test('replies that are due before a command that blocks are read during a hold', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await client.ask('PING', '+PONG\r\n')
  pair.a.process.kill('SIGSTOP')
  client.send('SET a 1\r\nBLPOP l 0\r\n')
  await until(() => pair.endpoint.report().commands === 3)
  const held = pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 50_000 })
  pair.a.process.kill('SIGCONT')
  expect(await held).toMatchObject({ drained: true, late: 0 })
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  await client.gets('+OK\r\n')
  await pair.b.admin('LPUSH l x')
  await client.gets('*2\r\n$1\r\nl\r\n$1\r\nx\r\n')
})

test('a prepared link that its engine has closed since is not used', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  await client.ask('SET a 1', '+OK\r\n')
  // Where the machine stalls, the link is not ready in time, and its engine does not know yet that it was
  // given up.
  await until(async () => (await pair.endpoint.prepare({ host: '127.0.0.1', port: pair.b.port })) === 1)
  expect(await pair.b.admin('CLIENT KILL TYPE normal SKIPME yes')).toMatch(/^:[1-9]\r\n$/)
  await pair.handOver()
  await client.ask('INCR a', ':2\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0 })
})

test.for(builds)('READONLY closes no client if the successor refuses it: %s', async (build) => {
  await using pair = await makePair(build, build)
  await using client = await dial(pair.port)
  client.send('CLIENT REPLY OFF\r\nREADONLY\r\nCLIENT REPLY ON\r\n')
  await client.gets('+OK\r\n')
  await pair.handOver()
  await client.ask('SET a 1', '+OK\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0 })
})

test('a consumer that waits waits on, whatever the names of its group and itself are', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  const consumers = [
    ['streams', 'c'],
    ['count', 'streams'],
    ['block', '1000000'],
  ] as const
  await using stack = new AsyncDisposableStack()
  const waiting = await Promise.all(consumers.map(() => dial(pair.port)))
  for (const [n, [group, consumer]] of consumers.entries()) {
    await client.ask(`XGROUP CREATE s${n} ${group} 0 MKSTREAM`, '+OK\r\n')
    const waits = stack.use(waiting[n] ?? client)
    waits.send(`XREADGROUP GROUP ${group} ${consumer} BLOCK 600000 STREAMS s${n} >\r\n`)
  }
  await until(async () => (await pair.primary().admin('INFO clients')).includes('blocked_clients:3'))
  await pair.handOver()
  for (const [n, [group, consumer]] of consumers.entries()) {
    await client.ask(`XADD s${n} 1-1 f v`, '$3\r\n1-1\r\n')
    await waiting[n]?.gets(`*1\r\n*2\r\n$2\r\ns${n}\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n`)
    const pending = `*1\r\n*2\r\n$${consumer.length}\r\n${consumer}\r\n$1\r\n1\r\n`
    await client.ask(`XPENDING s${n} ${group}`, `*4\r\n:1\r\n$3\r\n1-1\r\n$3\r\n1-1\r\n${pending}`)
  }
})

test('a transaction with a command that an older engine does not know is refused there, and its client stays', async () => {
  await using pair = await makePair()
  await pair.handOver()
  await using client = await dial(pair.port)
  await client.ask('SET k v', '+OK\r\n')
  await client.ask('MULTI', '+OK\r\n')
  await client.ask('SET k w', '+QUEUED\r\n')
  await client.ask('HPEXPIRE h 1000 FIELDS 1 f', '+QUEUED\r\n')
  await pair.handOver()
  await client.ask('SET k x', '+QUEUED\r\n')
  await client.ask('EXEC', '-EXECABORT Transaction discarded because of previous errors.\r\n')
  await client.ask('GET k', '$1\r\nv\r\n')
  expect(pair.endpoint.report()).toMatchObject({ errors: 0 })
})
