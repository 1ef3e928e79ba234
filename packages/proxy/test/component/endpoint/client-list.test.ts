import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, test } from 'vitest'
import { runProxy } from '../../run-proxy.ts'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import {
  builds,
  dial,
  type Engine,
  freePort,
  makeEndpointSpec,
  makePair,
  newest,
  type RawClient,
  startEngine,
  until,
} from '../../stage.ts'

const everyField =
  'id addr laddr fd name age idle flags capa db sub psub ssub multi watch qbuf qbuf-free argv-mem multi-mem rbs rbp obl oll omem tot-mem events cmd user redir resp lib-name lib-ver tot-net-in tot-net-out tot-cmds'.split(
    ' ',
  )
/** Of the user of a database, as Fairlead makes it: engines refuse CLIENT LIST and CLIENT KILL. */
const RIGHTS = '~* &* +@all -@admin'

async function allow(...engines: readonly Engine[]): Promise<void> {
  for (const each of engines)
    for (const name of ['app', 'other'])
      expect(await each.admin(`ACL SETUSER ${name} on >secret ${RIGHTS}`)).toBe('+OK\r\n')
}

/** A client that is signed in. */
async function signedIn(port: number, user = 'app'): Promise<RawClient> {
  const client = await dial(port)
  await client.ask(`AUTH ${user} secret`, '+OK\r\n')
  return client
}

/** Its answer as one text, without the head. */
async function answerOf(client: RawClient, line: string): Promise<string> {
  client.send(`${line}\r\nECHO that-is-all\r\n`)
  const end = '$11\r\nthat-is-all\r\n'
  await until(() => client.text().endsWith(end) || client.ended())
  const text = client.text()
  await client.gets(text)
  return text.slice(0, -end.length)
}

type Line = Readonly<Record<string, string>>

/** The lines of CLIENT LIST or INFO, as clients parse them. */
function linesIn(answer: string): readonly Line[] {
  const body = answer.slice(answer.indexOf('\n') + 1)
  return body
    .split('\n')
    .filter((line) => line.includes('='))
    .map((line) =>
      Object.fromEntries(
        line
          .trim()
          .split(' ')
          .map((word) => [word.split('=')[0], word.slice(word.indexOf('=') + 1)]),
      ),
    )
}

async function idOf(client: RawClient): Promise<string> {
  return (await answerOf(client, 'CLIENT ID')).slice(1, -2)
}

test.for(builds)(
  'a client sees the connections of its own user, in the words of the engine: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await allow(pair.a, pair.b)
    await using first = await signedIn(pair.port)
    await using second = await signedIn(pair.port)
    await using stranger = await signedIn(pair.port, 'other')
    await second.ask('CLIENT SETNAME worker', '+OK\r\n')
    await second.ask('SELECT 3', '+OK\r\n')
    await stranger.ask('SET k v', '+OK\r\n')
    const list = await answerOf(first, 'CLIENT LIST')
    const lines = linesIn(list)
    expect(lines).toMatchObject([
      {
        id: await idOf(first),
        addr: first.address,
        laddr: `127.0.0.1:${pair.port}`,
        name: '',
        db: '0',
        cmd: 'client|list',
        user: 'app',
        flags: 'N',
        resp: '2',
      },
      { id: await idOf(second), addr: second.address, name: 'worker', db: '3', cmd: 'select', user: 'app' },
    ])
    expect(lines.map((line) => Object.keys(line))).toEqual(lines.map(() => everyField))
    expect(list).toMatch(/^\$\d+\r\nid=/)
    // Every field of the engine is there, in the form of the engine.
    const [own] = linesIn(await pair.a.admin('CLIENT LIST'))
    expect(
      Object.keys(own ?? {}).filter((name) => !everyField.includes(name) && name !== 'io-thread'),
    ).toEqual([])
    for (const [name, value] of Object.entries(own ?? {}))
      if (name !== 'io-thread')
        expect([name, /^-?\d+$/.test(lines[0]?.[name] ?? '')]).toEqual([name, /^-?\d+$/.test(value)])
    const [info] = linesIn(await answerOf(second, 'CLIENT INFO'))
    expect(info).toMatchObject({
      id: lines[1]?.['id'],
      addr: second.address,
      laddr: `127.0.0.1:${pair.port}`,
      name: 'worker',
      db: '3',
      user: 'app',
      cmd: 'client|info',
    })

    await pair.handOver()
    const after = linesIn(await answerOf(first, 'CLIENT LIST'))
    expect(after.map(({ id, addr, name, db }) => ({ id, addr, name, db }))).toEqual(
      lines.map(({ id, addr, name, db }) => ({ id, addr, name, db })),
    )
    expect(linesIn(await answerOf(second, 'CLIENT INFO'))[0]?.['id']).toBe(lines[1]?.['id'])
  },
)

/** Questions that the newest engine answers with the same words, whatever its clients are. */
const questions = [
  ...['CLIENT LIST ID', 'CLIENT LIST ID x', 'CLIENT LIST TYPE foo', 'CLIENT LIST FOO', 'CLIENT LIST FOO bar'],
  ...[
    'CLIENT LIST ID 999999',
    'CLIENT LIST TYPE replica',
    'CLIENT LIST TYPE',
    'CLIENT LIST ID 0',
    'CLIENT LIST IDLE x',
  ],
  ...[
    'CLIENT LIST IDLE 0',
    'CLIENT LIST MAXAGE -1',
    'CLIENT LIST MAXAGE x',
    'CLIENT LIST DB x',
    'CLIENT LIST SKIPME x',
  ],
  ...[
    'CLIENT LIST NAME unknown',
    'CLIENT LIST NOT-IDLE 3',
    'CLIENT LIST ID 999998 999999 TYPE normal',
    'CLIENT LIST FLAGS b',
  ],
  ...[
    'CLIENT LIST LIB-NAME x',
    'CLIENT LIST IP 127.0.0.2',
    'CLIENT LIST ADDR 1.2.3.4:5',
    'CLIENT LIST NOT-TYPE normal',
  ],
  ...[
    'CLIENT KILL',
    'CLIENT KILL ID',
    'CLIENT KILL ID x',
    'CLIENT KILL ID 0',
    'CLIENT KILL FOO bar',
    'CLIENT KILL TYPE foo',
  ],
  ...[
    'CLIENT KILL 1.2.3.4:5',
    'CLIENT KILL ID 999999',
    'CLIENT KILL SKIPME no ID 999998 ID 999999',
    'CLIENT KILL SKIPME maybe',
  ],
  ...[
    'CLIENT KILL ID 999999 SKIPME',
    'CLIENT KILL LADDR 1.2.3.4:5',
    'CLIENT KILL TYPE pubsub',
    'CLIENT KILL MAXAGE 1000000',
  ],
  'CLIENT INFO x',
]

test.for([2, 3])('filters and errors are those of the newest engine, in RESP%s', async (protocol) => {
  await using engine = await startEngine(newest)
  await using proxy = await runProxy({ workers: 1 })
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params: { id: 'words' }, body: wanted })
  const found: Record<string, string>[] = []
  for (const port of [engine.port, wanted.port]) {
    await using client = await dial(port)
    await answerOf(client, `HELLO ${protocol}`)
    const answers: Record<string, string> = {}
    for (const question of questions) answers[question] = await answerOf(client, question)
    found.push(answers)
    expect(linesIn(await answerOf(client, 'CLIENT LIST'))[0]).toMatchObject({
      resp: String(protocol),
      user: 'default',
    })
  }
  expect(found[1]).toEqual(found[0])
})

// invariant: A client never sees or ends connections of another user of its database.
test.for([
  ['one worker', 1],
  ['three workers', 3],
] as const)('a client ends connections of its own user, and no others, with %s', async ([, workers]) => {
  await using engine = await startEngine(newest)
  await allow(engine)
  await using proxy = await runProxy({ workers })
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  const params = { id: 'kill' }
  await proxy.client.putEndpoint({ params, body: wanted })
  await using stack = new AsyncDisposableStack()
  const open = async (user: string, name: string) => {
    const client = stack.use(await signedIn(wanted.port, user))
    await client.ask(`CLIENT SETNAME ${name}`, '+OK\r\n')
    return client
  }
  // So many that each worker has some.
  const own = await Promise.all(Array.from({ length: 24 }, (_, n) => open('app', `own-${n}`)))
  const others = await Promise.all(Array.from({ length: 12 }, (_, n) => open('other', `other-${n}`)))
  const [asker, first, second, third, fourth] = own
  const [stranger] = others
  if (!asker || !first || !second || !third || !fourth || !stranger) throw new Error('no clients')
  const lines = async (line: string) => linesIn(await answerOf(asker, line))
  const listed = await lines('CLIENT LIST')
  expect(listed.map(({ name }) => name).toSorted()).toEqual(own.map((_, n) => `own-${n}`).toSorted())
  expect(new Set(listed.map(({ id }) => id)).size).toBe(24)
  const ids = await Promise.all(own.map(idOf))
  expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())

  expect(await lines(`CLIENT LIST ID ${ids[1]} ${ids[2]} NAME own-2`)).toMatchObject([{ name: 'own-2' }])
  expect(await lines('CLIENT LIST USER other')).toEqual([])
  expect((await lines('CLIENT LIST SKIPME yes')).length).toBe(23)
  expect(await lines(`CLIENT LIST ADDR ${first.address}`)).toMatchObject([{ id: ids[1] }])

  // Of another user: no connection of it exists for this one.
  expect(await answerOf(asker, `CLIENT KILL ID ${await idOf(stranger)}`)).toBe(':0\r\n')
  expect(await answerOf(asker, `CLIENT KILL ${stranger.address}`)).toBe('-ERR No such client\r\n')
  expect(await answerOf(asker, 'CLIENT KILL USER other')).toBe(':0\r\n')
  expect(await answerOf(asker, `CLIENT KILL ID ${ids[0]}`)).toBe(':0\r\n')

  first.send('BLPOP nothing 0\r\n')
  await until(async () => (await lines(`CLIENT LIST ID ${ids[1]}`))[0]?.['flags'] === 'b')
  expect(await answerOf(asker, `CLIENT KILL ID ${ids[1]}`)).toBe(':1\r\n')
  await until(first.ended)
  await until(async () => !(await engine.admin('CLIENT LIST')).includes('name=own-1 '))
  expect(await answerOf(asker, `CLIENT KILL ${second.address}`)).toBe('+OK\r\n')
  await until(second.ended)
  // Itself: it is told, and nothing after that is executed.
  third.send(`CLIENT KILL ID ${ids[3]} SKIPME no\r\nSET after kill\r\n`)
  await until(third.ended)
  expect(third.text()).toBe(':1\r\n')
  fourth.send(`PING\r\nCLIENT KILL ${fourth.address}\r\nPING\r\n`)
  await until(fourth.ended)
  expect(fourth.text()).toBe('+PONG\r\n+OK\r\n')
  expect(await engine.admin('EXISTS after')).toBe(':0\r\n')
  const left = await answerOf(asker, 'CLIENT KILL TYPE normal')
  expect(left).toBe(':19\r\n')
  await until(() => own.every((client) => client === asker || client.ended()))
  await asker.ask('PING', '+PONG\r\n')
  for (const client of others) await client.ask('PING', '+PONG\r\n')
  expect((await lines('CLIENT LIST')).length).toBe(1)
})

test('a question in a pipeline is answered in its place, for the user signed in before it', async () => {
  await using pair = await makePair(newest, newest)
  await allow(pair.a, pair.b)
  await using other = await signedIn(pair.port, 'other')
  await other.ask('CLIENT SETNAME other', '+OK\r\n')
  await using client = await dial(pair.port)
  const said = [
    'AUTH app secret',
    'SET k v',
    'CLIENT LIST',
    'GET k',
    'AUTH other secret',
    'CLIENT LIST',
    'CLIENT KILL ID 999',
    'GET k',
  ]
  const answer = await answerOf(client, said.join('\r\n'))
  expect(
    answer.replaceAll(
      /\$\d+\r\n(id=.*\n)+\r\n/g,
      (list) => `<${linesIn(list).map(({ user, name }) => `${user} ${name}`)}>`,
    ),
  ).toBe('+OK\r\n+OK\r\n<app >$1\r\nv\r\n+OK\r\n<other other,other >:0\r\n$1\r\nv\r\n')
  // Split anywhere, and with a handover before it.
  const held = pair.handOver()
  for (const byte of 'CLIENT LIST\r\nGET k\r\n') client.send(byte)
  await held
  await until(() => client.text().endsWith('$1\r\nv\r\n'))
  expect(linesIn(client.text()).length).toBe(2)
})

test('the engine refuses a user without the right, and a client that has not signed in', async () => {
  await using pair = await makePair(newest, newest)
  await allow(pair.a, pair.b)
  await pair.a.admin('ACL SETUSER app -client|id')
  await pair.a.admin('ACL SETUSER default -@all')
  await using client = await signedIn(pair.port)
  const refused = (what: string) => `-NOPERM User app has no permissions to run the '${what}' command\r\n`
  await client.ask('CLIENT LIST', refused('client|list'))
  await client.ask('CLIENT KILL ID 1', refused('client|kill'))
  await using other = await signedIn(pair.port, 'other')
  // In a transaction the engine refuses it, as without an endpoint.
  await other.ask('MULTI', '+OK\r\n')
  await other.ask('CLIENT LIST', "-NOPERM User other has no permissions to run the 'client|list' command\r\n")
  await other.ask('EXEC', '-EXECABORT Transaction discarded because of previous errors.\r\n')
})

test.for(builds)(
  'CLIENT TRACKING with REDIRECT takes the number that CLIENT ID gave, from any worker: %s',
  async (build) => {
    await using engine = await startEngine(build)
    await using proxy = await runProxy({ workers: 2 })
    const wanted = makeEndpointSpec(await freePort(), engine.port)
    await proxy.client.putEndpoint({ params: { id: 'redirect' }, body: wanted })
    await using listener = await dial(wanted.port)
    const id = await idOf(listener)
    await listener.ask(
      'SUBSCRIBE __redis__:invalidate',
      '*3\r\n$9\r\nsubscribe\r\n$20\r\n__redis__:invalidate\r\n:1\r\n',
    )
    await using stack = new AsyncDisposableStack()
    const readers = await Promise.all(
      Array.from({ length: 8 }, async () => stack.use(await dial(wanted.port))),
    )
    for (const [n, reader] of readers.entries()) {
      await reader.ask(`CLIENT TRACKING ON REDIRECT ${id}`, '+OK\r\n')
      await reader.ask('CLIENT GETREDIR', `:${id}\r\n`)
      await reader.ask(`GET k${n}`, '$-1\r\n')
      expect(linesIn(await answerOf(reader, 'CLIENT INFO'))[0]).toMatchObject({ redir: id })
      await engine.admin(`SET k${n} v`)
      const key = `k${n}`
      await listener.gets(`*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$2\r\n${key}\r\n`)
    }
    const [reader] = readers
    expect(await answerOf(reader ?? listener, 'CLIENT TRACKING ON REDIRECT 12345')).toMatch(
      /^-ERR The client ID you want redirect to does not exist/,
    )
  },
)

test('clients of a sharded database are listed once, and ended with all their links', async () => {
  await using cluster = await makeCluster({ withReplicas: true })
  await allow(...cluster.primaries, ...cluster.replicas)
  await using first = await signedIn(cluster.port)
  await using second = await signedIn(cluster.port)
  await using stranger = await signedIn(cluster.port, 'other')
  for (const client of [first, second, stranger])
    for (const key of keyOf) await client.ask(`SET ${key} v`, '+OK\r\n')
  await second.ask('CLIENT SETNAME second', '+OK\r\n')
  const lines = linesIn(await answerOf(first, 'CLIENT LIST'))
  expect(lines).toMatchObject([
    { id: await idOf(first), addr: first.address, cmd: 'client|list', user: 'app' },
    { id: await idOf(second), addr: second.address, name: 'second', laddr: `127.0.0.1:${cluster.port}` },
  ])
  expect(linesIn(await answerOf(second, 'CLIENT INFO'))).toMatchObject([
    { id: lines[1]?.['id'], addr: second.address },
  ])
  await cluster.handOver(0)
  await cluster.handOver(1)
  expect(linesIn(await answerOf(first, 'CLIENT LIST')).map(({ id }) => id)).toEqual(lines.map(({ id }) => id))
  expect(await idOf(second)).toBe(lines[1]?.['id'])
  expect(await answerOf(first, `CLIENT KILL ID ${await idOf(stranger)}`)).toBe(':0\r\n')
  expect(await answerOf(first, `CLIENT KILL ID ${lines[1]?.['id']}`)).toBe(':1\r\n')
  await until(second.ended)
  for (const key of keyOf) await stranger.ask(`GET ${key}`, '$1\r\nv\r\n')
  first.send(`CLIENT KILL ${first.address}\r\nSET after kill\r\n`)
  await until(first.ended)
  expect(first.text()).toBe('+OK\r\n')
  await stranger.ask('EXISTS after', ':0\r\n')
})

test('client libraries read the answers', async () => {
  await using pair = await makePair(newest, newest)
  await allow(pair.a, pair.b)
  const login = { username: 'app', password: 'secret' }
  const redis = createClient({ socket: { host: '127.0.0.1', port: pair.port }, ...login, name: 'theirs' })
  redis.on('error', () => undefined)
  await redis.connect()
  const other = new Redis({ host: '127.0.0.1', port: pair.port, connectionName: 'ours', ...login })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => redis.destroy())
  stack.defer(() => other.disconnect())
  const id = await other.client('ID')
  const listed = await redis.clientList()
  expect(listed).toMatchObject([
    { id: await redis.clientId(), name: 'theirs', user: 'app', db: 0, libName: 'node-redis' },
    { id, name: 'ours', user: 'app', age: 0, idle: 0 },
  ])
  expect(await redis.clientInfo()).toMatchObject({ id: listed[0]?.id, name: 'theirs' })
  expect(String(await other.client('LIST'))).toContain('name=theirs')
})
