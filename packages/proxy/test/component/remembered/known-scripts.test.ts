import { expect, test } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { createKnownScripts, type KnownScripts } from '../../../src/remembered/known-scripts.ts'
import { runProxy } from '../../run-proxy.ts'
import { dial, freePort, makeEndpointSpec, newest, oldest, startEngine, until } from '../../stage.ts'

const host = '127.0.0.1'
const successor = { host, port: 1 }

const evalOf = (text: string) => ({ name: 'EVAL', args: [Buffer.from(text)], cutShort: false })

function textsOf({ scripts }: { readonly scripts: readonly string[] }): string[] {
  return scripts.map((script) => Buffer.from(script, 'base64').toString('latin1'))
}

test.for([oldest, newest])(
  'scripts that an engine has accepted are known, others are not: %s',
  async (build) => {
    await using engine = await startEngine(build)
    await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
    await using client = await dial(endpoint.wanted.port)
    await client.ask('EVAL "return 1" 0', ':1\r\n')
    await client.ask('EVAL_RO "return 2" 0', ':2\r\n')
    client.send('SCRIPT LOAD "return 3"\r\n')
    await until(() => client.text().length > 40)
    await client.gets(client.text())
    await client.ask('MULTI', '+OK\r\n')
    await client.ask('EVAL "return \'\\xe9\'" 0', '+QUEUED\r\n')
    await client.ask('EXEC', '*1\r\n$1\r\n\xe9\r\n')
    client.send('EVAL "not lua" 0\r\n')
    await until(() => client.text().endsWith('\r\n'))
    expect(client.text()).toMatch(/^-ERR/)
    await client.gets(client.text())
    await client.ask('MULTI', '+OK\r\n')
    await client.ask('EVAL "return 5" 0', '+QUEUED\r\n')
    await client.ask('DISCARD', '+OK\r\n')
    const all = ['return 1', 'return 2', 'return 3', "return '\xe9'"]
    expect(textsOf(endpoint.takeScripts(successor, true))).toEqual(all)
    // Each engine gets each script once, unless all are asked for.
    await client.ask('EVAL "return 1" 0', ':1\r\n')
    await client.ask('EVAL "return 6" 0', ':6\r\n')
    expect(endpoint.takeScripts(successor, false)).toMatchObject({ flushed: false, scripts: { length: 1 } })
    expect(endpoint.takeScripts(successor, false).scripts).toEqual([])
    expect(textsOf(endpoint.takeScripts({ host, port: 2 }, false))).toHaveLength(5)
    await client.ask('SCRIPT FLUSH', '+OK\r\n')
    expect(endpoint.takeScripts(successor, false)).toEqual({ flushed: true, scripts: [] })
    expect(endpoint.takeScripts(successor, true)).toEqual({ flushed: false, scripts: [] })
  },
)

test('a script is known that is flushed and used in one pipeline, or that returns nothing', async () => {
  await using engine = await startEngine(newest)
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using client = await dial(endpoint.wanted.port)
  const used = 'EVAL "return 1" 0\r\n'
  await client.ask(used.trim(), ':1\r\n')
  await client.ask(`SCRIPT FLUSH\r\n${used}EVAL "return nil" 0`, '+OK\r\n:1\r\n$-1\r\n')
  const { flushed, scripts } = endpoint.takeScripts(successor, false)
  expect([flushed, textsOf({ scripts })]).toEqual([true, ['return 1', 'return nil']])
  // A script that was loaded before the flush is not at its engine any more.
  client.send(`${used}EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0\r\nSCRIPT FLUSH\r\n`)
  await client.gets(':1\r\n:1\r\n+OK\r\n')
  expect(endpoint.takeScripts(successor, false)).toEqual({ flushed: true, scripts: [] })
})

test('a client without the right, or without a login, cannot add scripts', async () => {
  await using engine = await startEngine(newest, '--requirepass', 'secret')
  await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
  await using client = await dial(endpoint.wanted.port)
  client.send(
    'EVAL "return 1" 0\r\nSCRIPT LOAD "return 1"\r\nMULTI\r\nEVAL "return 1" 0\r\nEXEC\r\nSCRIPT FLUSH\r\n',
  )
  await until(() => client.text().split('\r\n').length > 6)
  for (const line of client.text().trimEnd().split('\r\n')) expect(line).toMatch(/^-/)
  expect(endpoint.takeScripts(successor, true)).toEqual({ flushed: false, scripts: [] })
})

test('a pipeline with one script costs only that script, and the script that was not used for the longest time makes room', () => {
  const scripts = createKnownScripts({ mostBytes: 10_000 })
  const shaOf = { name: 'EVALSHA', args: [Buffer.from('A'.repeat(40))], cutShort: false }
  expect(scripts.use(shaOf)).toBe(undefined)
  for (let n = 0; n < 100; n += 1) {
    // The first one is used repeatedly.
    expect(scripts.use(evalOf('return 0')) !== undefined).toBe(n > 0)
    scripts.learn(evalOf(`return ${n}`))
  }
  scripts.learn({ ...evalOf('x'.repeat(9_800)), cutShort: false })
  const kept = textsOf(scripts.take('successor', true))
  expect(kept).not.toContain('x'.repeat(9_800))
  expect(kept).toContain('return 0')
  expect(kept).toContain('return 99')
  expect(kept).not.toContain('return 1')
  expect(kept.length).toBeLessThan(40)
  scripts.learn({ ...evalOf('cut'), cutShort: true })
  expect(scripts.take('successor', false).scripts).toEqual([])
  expectNoneLeft(scripts)
})

function expectNoneLeft(scripts: KnownScripts): void {
  scripts.learn({ name: 'SCRIPT', args: [Buffer.from('flush'), Buffer.from('ASYNC')], cutShort: false })
  expect(scripts.take('successor', true)).toEqual({ flushed: true, scripts: [] })
}

test('all threads know the same scripts, and forget them together', async () => {
  await using engine = await startEngine(newest)
  await using proxy = await runProxy({ workers: 2 })
  const params = { id: 'bdb-1' }
  const wanted = makeEndpointSpec(await freePort(), engine.port)
  await proxy.client.putEndpoint({ params, body: wanted })
  await using stack = new AsyncDisposableStack()
  const clients = await Promise.all(Array.from({ length: 30 }, () => dial(wanted.port)))
  for (const [n, client] of clients.entries()) {
    stack.use(client)
    await client.ask(`EVAL "return ${n % 10}" 0`, `:${n % 10}\r\n`)
  }
  const take = (port: number) =>
    proxy.client.takeScripts({ params, body: { upstream: { host, port }, all: false } })
  expect((await take(1)).scripts.length).toBe(10)
  expect(await take(1)).toEqual({ flushed: false, scripts: [] })
  await clients[0]?.ask('SCRIPT FLUSH', '+OK\r\n')
  await until(async () => (await take(2)).scripts.length === 0)
  expect(await take(1)).toEqual({ flushed: true, scripts: [] })
})

test('the scripts of a transaction are learnt one by one, in their order, and what comes after it comes after them', () => {
  const scripts = createKnownScripts()
  const list = [evalOf('return 1'), evalOf('return 2'), evalOf('return 3')]
  let looks = 0
  const queued = new Proxy(list, {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) looks += 1
      return Reflect.get(target, name, receiver)
    },
  })
  expect([scripts.learnLater(queued, 300), looks]).toEqual([true, 0])
  expect([scripts.learnNext(), looks]).toEqual([true, 1])
  scripts.learn({ name: 'SCRIPT', args: [Buffer.from('FLUSH')], cutShort: false })
  // They are being learnt already.
  expect(scripts.learnLater([evalOf('return 4')], 100)).toBe(false)
  // A handover does not wait for the rest.
  expect(textsOf(scripts.take('successor', true))).toEqual(['return 4'])
  expect(scripts.learnNext()).toBe(false)
})

test('of a script of more than a megabyte nothing is kept', () => {
  const scripts = createKnownScripts()
  scripts.learn(evalOf(`return ${'1'.repeat(1_100_000)}`))
  expect(scripts.take('successor', true).scripts).toEqual([])
})
