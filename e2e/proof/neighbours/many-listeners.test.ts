import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { readListeners } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { canBeStranger, STRANGER, type Stranger, startStranger } from '../../support/start-stranger.ts'

/** In several processes with few files each, because some systems limit files. */
const STRANGERS = 5
const OF_EACH = 4_000
/** Other load of the machine disturbs most readings, but not all. */
const READINGS = 10
const MOST_MS = 2_000
const MOST_HELD_MS = 100

describe.runIf(canBeStranger)('another user of the machine', () => {
  test('that has 20,000 listeners does not delay Fairlead’s check of an engine’s user, and blocks no event loop', async () => {
    await using servers = await listenAt(['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1'])
    const [port = 0] = servers.ports
    await using strangers = new AsyncDisposableStack()
    const all = Array.from({ length: STRANGERS }, (_, n) =>
      strangers.use(startStranger(listenMuch(port, 100 + n, OF_EACH))),
    )
    await Promise.all(all.map(untilReady))

    const readings: { readonly ms: number; readonly heldMs: number }[] = []
    const isGood = () => readings.some(({ ms, heldMs }) => ms < MOST_MS && heldMs < MOST_HELD_MS)
    for (let n = 0; n < READINGS && !isGood(); n += 1) {
      await using held = watchTurns()
      const began = performance.now()
      // All at one moment, like the connections of a server that comes back.
      const found = await Promise.all(
        servers.ports.map((each) => readListeners({ host: '127.0.0.1', port: each })),
      )
      readings.push({ ms: performance.now() - began, heldMs: held.longestMs() })
      expect(found.map((each) => each.map(({ uid }) => uid))).toEqual(found.map(() => [process.geteuid?.()]))
    }
    expect(isGood(), JSON.stringify(readings)).toBe(true)

    // The listeners exist, and are seen.
    const [theirs] = await readListeners({ host: '127.100.0.1', port })
    expect(theirs?.uid).toBe(STRANGER)
  })
})

async function listenAt(hosts: readonly string[]) {
  const servers: Server[] = []
  for (const host of hosts) {
    const server = createServer((socket) => socket.destroy()).listen(0, host)
    await once(server, 'listening')
    servers.push(server)
  }
  return {
    ports: servers.map((server) => (server.address() as { port: number }).port),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

/** Notes the longest time between two turns of this event loop. */
function watchTurns() {
  let isOver = false
  let longest = 0
  const watching = (async () => {
    for (let last = performance.now(); !isOver; last = performance.now()) {
      await turn()
      longest = Math.max(longest, performance.now() - last)
    }
  })()
  return {
    longestMs: () => longest,
    async [Symbol.asyncDispose]() {
      isOver = true
      await watching
    },
  }
}

async function untilReady(stranger: Stranger): Promise<void> {
  while ((await stranger.says()) !== 'ready');
}

/** Listens at one port of many addresses: another user cannot get closer to the engine's own socket. */
const listenMuch = (port: number, network: number, count: number) => `import { createServer } from 'node:net'
import { once } from 'node:events'
for (let n = 0; n < ${count}; n += 1) {
  const host = '127.${network}.' + Math.floor(n / 250) + '.' + (n % 250 + 1)
  await once(createServer().listen({ port: ${port}, host, backlog: 1 }), 'listening')
  if (n % 500 === 0) console.log('at ' + n)
}
console.log('ready')
setInterval(() => {}, 60_000)
`
