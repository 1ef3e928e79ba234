import { Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { SLICE_MS } from '../../../src/handover/awake-timer.ts'
import { afterExec, afterQueueing, afterSuccess } from '../../../src/remembered/after-command.ts'
import type { Command } from '../../../src/remembered/command.ts'
import { freshState } from '../../../src/remembered/connection-state.ts'
import { builds, dial, everyBuild, makePair, newest, oldest, type RawClient, until } from '../../stage.ts'
import { holdTimers } from '../../stop-clock.ts'

afterEach(() => vi.restoreAllMocks())

const MB = 1024 * 1024

/** Sends a line, and takes whatever answers come until the answer to a PING behind it. */
async function tell(client: RawClient, line: string): Promise<string> {
  client.send(`${line}\r\nECHO done\r\n`)
  await until(() => client.text().endsWith('$4\r\ndone\r\n'))
  const text = client.text()
  await client.gets(text)
  return text.slice(0, -'$4\r\ndone\r\n'.length)
}

test.for(builds)(
  'a discarded transaction has changed nothing of its connection, RESP2 and 3: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using other = await dial(pair.port)
    await using two = await dial(pair.port)
    await using three = await dial(pair.port)
    await tell(three, 'HELLO 3')
    for (const [client, nil] of [
      [two, '*-1\r\n'],
      [three, '_\r\n'],
    ] as const) {
      await client.ask('WATCH w', '+OK\r\n')
      await other.ask('SET w changed', '+OK\r\n')
      await client.ask(
        'MULTI\r\nSELECT 5\r\nCLIENT SETNAME aborted\r\nEXEC',
        `+OK\r\n+QUEUED\r\n+QUEUED\r\n${nil}`,
      )
    }
    await pair.handOver()
    for (const client of [two, three]) {
      await client.ask('SET where after', '+OK\r\n')
      expect(await tell(client, 'CLIENT GETNAME')).not.toContain('aborted')
    }
    expect(await other.ask('GET where', '$5\r\nafter\r\n')).toBe(undefined)
    expect(pair.endpoint.report()).toMatchObject({ errors: 0 })
  },
)

test.for(builds)(
  'a move restores what worked in a transaction, and not what failed in it: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    const queued = [
      'SELECT 99',
      'SET k v',
      'CLIENT SETNAME a',
      'SELECT 3',
      'LPUSH k x',
      'CLIENT SETNAME "b c"',
      'SELECT x',
      'CLIENT TRACKING ON',
    ]
    await client.ask(['MULTI', ...queued].join('\r\n'), `+OK\r\n${'+QUEUED\r\n'.repeat(queued.length)}`)
    const [, ...parts] = (await tell(client, 'EXEC')).split('\r\n')
    expect(parts.map((part) => part[0])).toEqual(['-', '+', '+', '+', ':', '-', '-', '+', undefined])
    await pair.handOver()
    await client.ask('SET where 3', '+OK\r\n')
    await client.ask('CLIENT GETNAME', '$1\r\na\r\n')
    await client.ask('SELECT 0', '+OK\r\n')
    await client.ask('GET k', '$1\r\nv\r\n')
    await client.ask('GET where', '$-1\r\n')
    expect(pair.endpoint.report()).toMatchObject({ errors: 0 })
  },
)

test.for([...new Set([oldest, newest])])(
  'protocol and database that a transaction has set move with the connection, also if the transaction was too long to be kept: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    client.send('MULTI\r\nSELECT 4\r\n')
    const value = Buffer.alloc(17 * MB, 'x')
    client.send(
      Buffer.concat([
        Buffer.from(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${value.length}\r\n`),
        value,
        Buffer.from('\r\n'),
      ]),
    )
    client.send('HELLO 3\r\nSELECT 99\r\nEXEC\r\n')
    await until(() => client.text().includes('DB index') && client.text().endsWith('\r\n'))
    expect(await tell(client, 'STRLEN k')).toContain(`:${value.length}\r\n`)
    await pair.handOver()
    await client.ask('GET none', '_\r\n')
    await client.ask('STRLEN k', `:${value.length}\r\n`)
  },
)

const misplaced = ['MULTI', 'WATCH k', 'MULTI 1', 'WATCH', 'EXEC now', 'DISCARD it', 'RESET it']

test.for(builds)(
  'a refused command fails its transaction in the same cases as without a move: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    const clients = []
    for (const line of misplaced) {
      const client = await dial(pair.port)
      await client.ask('MULTI', '+OK\r\n')
      client.send(`${line}\r\n`)
      await until(() => client.text().endsWith('\r\n'))
      clients.push({ line, client })
    }
    await pair.handOver()
    for (const { line, client } of clients) {
      await using direct = await dial(pair.primary().port)
      await direct.ask('MULTI', '+OK\r\n')
      direct.send(`${line}\r\nGET k\r\nEXEC\r\nPING\r\n`)
      client.send('GET k\r\nEXEC\r\nPING\r\n')
      for (const each of [direct, client]) await until(() => each.text().endsWith('+PONG\r\n'))
      expect([line, client.text()]).toEqual([line, direct.text()])
      client.socket.destroy()
    }
  },
)

test('an open transaction of several megabytes is carried out at the new primary', async () => {
  await using pair = await makePair()
  await using client = await dial(pair.port)
  await client.ask('MULTI', '+OK\r\n')
  const value = Buffer.alloc(5 * MB, 'x')
  for (const key of ['a', 'b']) {
    client.send(
      Buffer.concat([
        Buffer.from(`*3\r\n$3\r\nSET\r\n$1\r\n${key}\r\n$${value.length}\r\n`),
        value,
        Buffer.from('\r\n'),
      ]),
    )
    await client.gets('+QUEUED\r\n')
  }
  const many = 10_000
  client.send('INCR n\r\n'.repeat(many))
  await client.gets('+QUEUED\r\n'.repeat(many))
  await pair.handOver()
  client.send('EXEC\r\n')
  await client.gets(`*${many + 2}\r\n+OK\r\n+OK\r\n:1\r\n`)
  await until(() => client.text().endsWith(`:${many}\r\n`))
  await client.gets(client.text())
  await client.ask('STRLEN b', `:${value.length}\r\n`)
  // A larger one is carried out where it is, and fails elsewhere; the next one is not affected.
  for (const isMoved of [false, true]) {
    await client.ask('MULTI', '+OK\r\n')
    for (let n = 0; n < 4; n += 1) {
      client.send(
        Buffer.concat([
          Buffer.from(`*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$${value.length}\r\n`),
          value,
          Buffer.from('\r\n'),
        ]),
      )
      await client.gets('+QUEUED\r\n')
    }
    if (isMoved) await pair.handOver()
    await client.ask(
      'EXEC',
      isMoved
        ? '-EXECABORT Transaction discarded because of previous errors.\r\n'
        : `*4\r\n${'+OK\r\n'.repeat(4)}`,
    )
  }
  await client.ask('MULTI\r\nINCR n', '+OK\r\n+QUEUED\r\n')
  await pair.handOver()
  await client.ask('EXEC', `*1\r\n:${many + 1}\r\n`)
})

test('all connections together keep no more of their transactions than a bound, and give it back', async () => {
  await using pair = await makePair()
  // No client is closed because the machine takes long to send its 15 MB again.
  holdTimers(SLICE_MS)
  const begin = async () => {
    const client = await dial(pair.port)
    await client.ask('MULTI', '+OK\r\n')
    const value = Buffer.alloc(15 * MB, 'x')
    client.send(
      Buffer.concat([Buffer.from(`*2\r\n$6\r\nSTRLEN\r\n$${value.length}\r\n`), value, Buffer.from('\r\n')]),
    )
    await client.gets('+QUEUED\r\n')
    return client
  }
  const round = async (count: number) => {
    const clients: RawClient[] = []
    for (let n = 0; n < count; n += 1) clients.push(await begin())
    await using small = await dial(pair.port)
    await small.ask('MULTI\r\nINCR n', '+OK\r\n+QUEUED\r\n')
    await pair.handOver()
    for (const client of clients) client.send('EXEC\r\n')
    await until(() => clients.every((client) => client.text().endsWith('\r\n')))
    small.send('EXEC\r\n')
    await until(() => small.text().endsWith('\r\n'))
    const texts = clients.map((client) => client.text())
    for (const client of clients) client.socket.destroy()
    await until(() => pair.endpoint.report().connections === 1)
    return { whole: texts.filter((text) => text === '*1\r\n:0\r\n').length, small: small.text().slice(0, 4) }
  }
  expect(await round(10)).toEqual({ whole: 8, small: '*1\r\n' })
  expect(await round(2)).toEqual({ whole: 2, small: '*1\r\n' })
})

test('an incomplete reply delays no handover: EXEC with CLIENT REPLY OFF, or with a login that fails', async () => {
  const build = everyBuild.find((name) => name.startsWith('valkey-8')) ?? newest
  await using pair = await makePair(build, newest)
  await using silent = await dial(pair.port)
  await using login = await dial(pair.port)
  await silent.ask('MULTI\r\nCLIENT REPLY OFF\r\nEXEC', '+OK\r\n+QUEUED\r\n*1\r\n')
  await login.ask('MULTI\r\nAUTH ann wrong\r\nEXEC', '+OK\r\n+QUEUED\r\n*1\r\n')
  // A MULTI that the engine has refused begins no transaction.
  await pair.a.admin('ACL SETUSER ann on nopass ~* &* +@all -multi')
  await using refused = await dial(pair.port)
  await refused.ask('AUTH ann x', '+OK\r\n')
  refused.send('MULTI\r\n')
  await until(() => refused.text().endsWith('\r\n'))
  await refused.gets(refused.text())
  refused.send('BLPOP q 0\r\n')
  await until(async () => (await pair.a.admin('INFO clients')).includes('blocked_clients:1'))
  await pair.b.admin('ACL SETUSER ann on nopass ~* &* +@all -multi')
  await pair.handOver()
  await until(() => silent.ended() && login.ended())
  expect(login.text()).toContain(
    '-ERR this connection cannot follow its database: AUTH in a transaction that is not answered\r\n',
  )
  await pair.b.admin('LPUSH q v')
  await refused.gets('*2\r\n$1\r\nq\r\n$1\r\nv\r\n')
})

test.for(builds)(
  'a client with a login in a transaction can move if EXEC refuses that transaction, and cannot if it is executed: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using refused = await dial(pair.port)
    await using twice = await dial(pair.port)
    await using lost = await dial(pair.port)
    await using other = await dial(pair.port)
    for (const engine of [pair.a, pair.b]) await engine.admin('ACL SETUSER ann on >secret ~* &* +@all')
    await tell(refused, 'MULTI\r\nAUTH ann secret\r\nGET\r\nEXEC')
    await lost.ask('WATCH w', '+OK\r\n')
    await other.ask('SET w changed', '+OK\r\n')
    await lost.ask('MULTI\r\nAUTH ann secret\r\nEXEC', '+OK\r\n+QUEUED\r\n*-1\r\n')
    // A refusal of one behind it changes nothing of that.
    const answer = await tell(
      twice,
      'MULTI\r\nAUTH ann secret\r\nEXEC\r\nMULTI\r\nAUTH ann secret\r\nGET\r\nEXEC',
    )
    expect(answer).toContain('*1\r\n+OK\r\n')
    expect(answer).toContain('-EXECABORT ')
    await pair.handOver()
    for (const client of [refused, lost]) await client.ask('PING', '+PONG\r\n')
    await until(() => twice.ended())
    expect(twice.text()).toContain(
      '-ERR this connection cannot follow its database: AUTH in a transaction\r\n',
    )
  },
)

test('the answers to thousands of scans in a transaction go to their client in few writes', async () => {
  await using pair = await makePair(newest, newest)
  await using client = await dial(pair.port)
  const SCANS = 2_000
  await client.ask('MULTI', '+OK\r\n')
  const write = vi.spyOn(Socket.prototype, 'write')
  const writes = () =>
    write.mock.contexts.filter((socket) => (socket as Socket).localPort === pair.port).length
  try {
    await client.ask('SCAN 0\r\n'.repeat(SCANS).trimEnd(), '+QUEUED\r\n'.repeat(SCANS))
    const empty = '*2\r\n$1\r\n0\r\n*0\r\n'
    await client.ask('EXEC', `*${SCANS}\r\n${empty.repeat(SCANS)}`)
    expect(writes()).toBeLessThan(SCANS / 10)
  } finally {
    write.mockRestore()
  }
})

test('a transaction may change its connection a thousand times; with one more, the connection does not move any more', () => {
  const select: Command = { name: 'SELECT', args: [Buffer.from('3')], cutShort: false }
  const after = (changes: number) => {
    let state = afterSuccess(freshState, { name: 'MULTI', args: [], cutShort: false })
    for (let n = 0; n < changes; n += 1) state = afterQueueing(state, select, true)
    return afterExec(state, [])
  }
  expect(after(1_000)).toMatchObject({ database: '3', unmovable: undefined })
  expect(after(1_001).unmovable).toMatchObject({ code: 'too_much' })
})
