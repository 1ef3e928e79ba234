import { expect, test } from 'vitest'
import { builds, dial, makePair, type RawClient, until } from '../../stage.ts'

async function inResp3(client: RawClient): Promise<void> {
  client.send('HELLO 3\r\nPING\r\n')
  await until(() => client.text().endsWith('+PONG\r\n'))
  await client.gets(client.text())
}

const everything = '>2\r\n$10\r\ninvalidate\r\n_\r\n'
const ofKey = (key: string) => `>2\r\n$10\r\ninvalidate\r\n*1\r\n$${key.length}\r\n${key}\r\n`

test.for(builds)(
  'prefixes of several CLIENT TRACKING add up, and all move with the connection: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    await using own = await dial(pair.port)
    for (const each of [client, own]) await inResp3(each)
    await client.ask('CLIENT TRACKING ON BCAST PREFIX a: PREFIX b:', '+OK\r\n')
    await client.ask('CLIENT TRACKING ON BCAST PREFIX c:', '+OK\r\n')
    client.send('CLIENT TRACKING ON BCAST PREFIX c:d:\r\n')
    await until(() => client.text().endsWith('overlap.\r\n'))
    await client.gets(client.text())
    // The options are those of the last command, and no prefix means all keys.
    await own.ask('CLIENT TRACKING ON BCAST NOLOOP PREFIX x:', '+OK\r\n')
    await own.ask('CLIENT TRACKING ON BCAST', '+OK\r\n')
    for (let n = 0; n < 2; n += 1) {
      await pair.handOver()
      await own.gets(everything)
      await client.gets(everything)
      const keys = ['a:1', 'b:1', 'c:1']
      for (const key of [...keys, 'z']) await own.ask(`SET ${key} ${n}`, `+OK\r\n${ofKey(key)}`)
      await client.gets(keys.map(ofKey).join(''))
    }
    await client.ask('CLIENT TRACKING OFF', '+OK\r\n')
    await pair.handOver()
    await own.gets(everything)
    await own.ask('SET b:1 x', `+OK\r\n${ofKey('b:1')}`)
    await client.ask('PING', '+PONG\r\n')
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0, connections: 2 })
  },
)

// invariant: A refused CLIENT TRACKING changes nothing of the state that moves.
test.for(builds)(
  'a CLIENT TRACKING that is refused without an answer changes nothing at a handover: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    await inResp3(client)
    await client.ask('CLIENT TRACKING ON BCAST PREFIX a:', '+OK\r\n')
    const said = [
      'CLIENT TRACKING ON PREFIX p',
      'CLIENT TRACKING ON BCAST PREFIX a:b:',
      'CLIENT TRACKING ON OPTIN',
      'CLIENT TRACKING NONSENSE',
      'CLIENT TRACKING ON BCAST PREFIX b:',
    ]
    client.send(['CLIENT REPLY OFF', ...said, 'CLIENT REPLY ON', ''].join('\r\n'))
    await client.gets('+OK\r\n')
    await pair.handOver()
    await client.gets(everything)
    await client.ask('SET a: 1', `+OK\r\n${ofKey('a:')}`)
    await client.ask('SET b: 1', `+OK\r\n${ofKey('b:')}`)
    await client.ask('SET c: 1', '+OK\r\n')
    expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0, connections: 1 })
  },
)

test.for(builds)(
  'OPTOUT and NOLOOP move with the connection, REDIRECT only after it was ended: %s',
  async (build) => {
    await using pair = await makePair(build, build)
    await using client = await dial(pair.port)
    await using redirects = await dial(pair.port)
    await using other = await dial(pair.port)
    await inResp3(client)
    await client.ask('CLIENT TRACKING ON', '+OK\r\n')
    await client.ask('CLIENT TRACKING OFF', '+OK\r\n')
    await client.ask('CLIENT TRACKING ON OPTOUT NOLOOP', '+OK\r\n')
    const id = /:(\d+)/.exec(await idOf(other))?.[1] ?? ''
    await redirects.ask(`CLIENT TRACKING ON REDIRECT ${id}`, '+OK\r\n')
    await redirects.ask('CLIENT TRACKING OFF', '+OK\r\n')
    await pair.handOver()
    await client.gets(everything)
    await client.ask('GET a', '_\r\n')
    await client.ask('GET b', '_\r\n')
    await client.ask('CLIENT CACHING NO', '+OK\r\n')
    await client.ask('GET c', '_\r\n')
    await client.ask('SET a 1', '+OK\r\n')
    for (const key of ['c', 'b']) await redirects.ask(`SET ${key} 1`, '+OK\r\n')
    await client.gets(ofKey('b'))
    const again = /:(\d+)/.exec(await idOf(other))?.[1] ?? ''
    await redirects.ask(`CLIENT TRACKING ON REDIRECT ${again}`, '+OK\r\n')
    await pair.handOver()
    await until(redirects.ended)
    expect(redirects.text()).toContain('REDIRECT')
    await other.ask('PING', '+PONG\r\n')
  },
)

async function idOf(client: RawClient): Promise<string> {
  client.send('CLIENT ID\r\n')
  await until(() => client.text().endsWith('\r\n'))
  const text = client.text()
  await client.gets(text)
  return text
}

test.for(builds)('RESET resets the same state as at an engine, and keeps the rest: %s', async (build) => {
  await using pair = await makePair(build, build)
  await using client = await dial(pair.port)
  await inResp3(client)
  const hasInfo = !build.startsWith('redis-7.0')
  if (hasInfo) await client.ask('CLIENT SETINFO LIB-NAME lib', '+OK\r\n')
  await client.ask('CLIENT SETNAME me', '+OK\r\n')
  await client.ask('SELECT 3', '+OK\r\n')
  await client.ask('CLIENT TRACKING ON BCAST', '+OK\r\n')
  await client.ask('RESET', '+RESET\r\n')
  await pair.handOver()
  await client.ask('SET k v', '+OK\r\n')
  await client.ask('CLIENT GETNAME', '$-1\r\n')
  client.send('CLIENT INFO\r\n')
  await until(() => /\$\d+\r\n.*\n\r\n$/.test(client.text()))
  expect(client.text()).toMatch(/ name= .* db=0 .* resp=2/)
  if (hasInfo) expect(client.text()).toContain('lib-name=lib ')
})
