import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { until } from '../../agent-home.ts'
import { dial, echoServer, makeProxyHome, proxyProgram } from '../../proxy-home.ts'

/**
 * A proxy in which some requests take as long as the test wants. Within its wall the proxy sees its own
 * package.
 */
const stickOnWords = fileURLToPath(new URL('../../../../proxy/test/stick-on-words.ts', import.meta.url))
const [node = '', ...rest] = proxyProgram
const sticky = [node, '--import', stickOnWords, ...rest]

/** On a busy machine a start takes longer than a proxy may hang here: the next agent adopts it. */
async function startSlowly(home: Awaited<ReturnType<typeof makeProxyHome>>, proxyProgram: readonly string[]) {
  await using _ = await home.start({ proxyProgram })
  await home.proxyBecomes({ state: 'running' })
}

// invariant: A proxy is ended only when a loop is stuck in one piece of work, which the log names.
test('a proxy that is stuck in one piece of work is ended, and both logs say which piece of work, and for which client', async () => {
  await using home = await makeProxyHome()
  await using database = await echoServer()
  await startSlowly(home, sticky)
  await using _ = await home.start({ proxyProgram: sticky, hungAfterMs: 3_000 })
  await home.proxyBecomes({ state: 'running' })
  await using client = await dial(await home.putEndpoint(database))
  expect(await client.ask()).toBe('+PONG\r\n')
  client.send('GET stick-working\r\n')
  await home.proxyBecomes({ crashes: 1 })
  const piece = `takes requests of ${client.address} at bdb-1`
  expect(home.logged()).toMatch(
    new RegExp(`stuck in one piece of work for [\\d.]+ s of processor time, and was killed: main ${piece}`),
  )
  expect(readFileSync(home.folder.log, 'utf8')).toMatch(new RegExp(`"a turn is long".*"doing":"${piece}"`))
})

test('a proxy with a worker that waits endlessly in one piece of work is ended, although its other threads answer', async () => {
  await using home = await makeProxyHome()
  await using database = await echoServer()
  const proxyProgram = [...sticky, '--workers', '2']
  await startSlowly(home, proxyProgram)
  await using _ = await home.start({ proxyProgram, hungAfterMs: 3_000 })
  await home.proxyBecomes({ state: 'running' })
  await using client = await dial(await home.putEndpoint(database))
  expect(await client.ask()).toBe('+PONG\r\n')
  client.send('GET stick-waiting\r\n')
  await home.proxyBecomes({ crashes: 1 })
  expect(home.logged()).toMatch(
    /in which it did nothing for [\d.]+ s, and was killed: worker [12] takes requests of 127\.0\.0\.1:\d+ at bdb-1/,
  )
})

test('a proxy that is slow on a loaded machine is reported, and its clients keep their connections', async () => {
  await using home = await makeProxyHome()
  await using database = await echoServer()
  const { pid, port } = await (async () => {
    await using _ = await home.start({ proxyProgram: sticky })
    const running = await home.proxyBecomes({ state: 'running' })
    return { pid: running.pid, port: await home.putEndpoint(database) }
  })()
  // The work takes 2 s of processor time, so that no machine is done before the silence is reported, which is
  // after 1 s. A loop that is stuck would be ended after 2.5 s of processor time, one that takes no orders,
  // after 15 s.
  await using _ = await home.start({ proxyProgram: sticky, hungAfterMs: 5_000 })
  await using client = await dial(port)
  expect(await client.ask()).toBe('+PONG\r\n')
  const words = /has not answered for .*: one piece of work has taken .*: main takes requests of/
  let isTold = false
  // The agent, which is this process, may have stalled itself meanwhile, and know nothing of it.
  for (let answers = 2; !isTold; answers += 1) {
    const begun = performance.now()
    client.send('GET work-starved\r\n')
    const isAnswered = async () => {
      isTold ||= words.test((await home.client.reportNode({})).proxy.why)
      return client.text() === '+PONG\r\n'.repeat(answers)
    }
    await until(isAnswered)
    console.log(`2 s of work took ${Math.round(performance.now() - begun)} ms`)
  }
  expect(await home.proxyBecomes({ state: 'running' })).toMatchObject({ pid, crashes: 0 })
})
