import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createCollector, placesOf, readListeners } from '../../src/read-listeners.ts'

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2713 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 648 1 000000001b4b2d2b 100 0 0 10 0
   1: 00000000:2714 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65534        0 649 1 000000001b4b2d2b 100 0 0 10 0
   2: 0200007F:2713 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 650 1 000000001b4b2d2b 100 0 0 10 0
   3: 0100007F:2713 0100007F:A62F 01 00000000:00000000 00:00000000 00000000     0        0 651 1 000000001b4b2d2b 20 4 30 10 -1
`

test('of what the kernel tells, those are read that listen at an address or at all of them, and no connections', () => {
  const places = new Map([10_003, 10_004, 10_005].map((port) => [port, placesOf('127.0.0.1', port)]))
  const wanted = new Set([...places.values()].flat())
  for (const length of [1, 7, 149, 150, 151, table.length]) {
    const collector = createCollector(4, wanted)
    for (let at = 0; at < table.length; at += length) if (!collector.take(table.slice(at, at + length))) break
    const at = (port: number) => places.get(port)?.flatMap((place) => collector.found.get(place) ?? [])
    expect(at(10_003)).toEqual([{ uid: 1_000, inode: 648 }])
    expect(at(10_004)).toEqual([{ uid: 65_534, inode: 649 }])
    expect(at(10_005)).toEqual([])
  }
})

test('nothing is read behind the first connection', () => {
  const collector = createCollector(4, new Set(placesOf('127.0.0.1', 10_003)))
  expect(collector.take(table)).toBe(false)
})

test.for(['127.0.0.1', '::1', '0.0.0.0'])(
  'a server at %s is found, as one of our user, until it closes',
  async (host) => {
    const server = createServer().listen(0, host)
    const isThere = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false), // a machine without IPv6
    ])
    if (!isThere) return
    const { port } = server.address() as { port: number }
    const address = { host: host === '0.0.0.0' ? '127.0.0.1' : host, port }
    const found = await readListeners(address)
    expect(found).toEqual([{ uid: process.geteuid?.(), inode: expect.any(Number) }])
    const closed = once(server, 'close')
    server.close()
    await closed
    expect(await readListeners(address)).toEqual([])
  },
)
