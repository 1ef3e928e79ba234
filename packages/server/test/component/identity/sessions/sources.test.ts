import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { readSocketOwner } from '../../../../src/identity/sessions/read-socket-owner.ts'
import { createSources, UNKNOWN_LOCAL } from '../../../../src/identity/sessions/sources.ts'

const noPeer = { port: 1, toAddress: '127.0.0.1', toPort: 8080 }

test('a source is an address, or the network of one where a machine has a whole network', async () => {
  const sourceOf = createSources(async () => 'untold')
  for (const [address, source] of [
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8::ff', '2001:db8:0:0::/64'],
    ['127.0.0.1', '127.0.0.1'],
  ] as const) {
    expect(await sourceOf({ address, peer: noPeer })).toBe(source)
  }
})

test('on loopback it is the user whose process holds the connection; a connection without a process counts as unknown', async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sourceOf = createSources()
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1']) {
    const client = connect({ host, port })
    const [socket] = await once(server, 'connection')
    const peer = { port: socket.remotePort, toAddress: socket.localAddress, toPort: socket.localPort }
    expect(await sourceOf({ address: socket.remoteAddress, peer })).toBe(`local user ${process.getuid?.()}`)
    client.destroy()
    await once(socket, 'end')
    // What was found while it was open stays: it was that user's.
    expect(await sourceOf({ address: socket.remoteAddress, peer })).toBe(`local user ${process.getuid?.()}`)
    expect(await sourceOf({ address: socket.remoteAddress, peer: { ...peer } })).toBe(UNKNOWN_LOCAL)
    socket.destroy()
  }
  server.close()
})

test('the tables are read once for all that ask meanwhile, and anew for those that ask later', async () => {
  let reads = 0
  const gate = Promise.withResolvers<void>()
  const ownerOf = readSocketOwner(async () => {
    reads += 1
    await gate.promise
    return '  0: 0100007F:0001 0100007F:1F90 01 0:0 0:0 0 1000 0 77'
  })
  const asked = Array.from({ length: 50 }, () => ownerOf({ address: '127.0.0.1', ...noPeer }))
  await new Promise((resolve) => setImmediate(resolve))
  const later = Array.from({ length: 50 }, () => ownerOf({ address: '127.0.0.1', ...noPeer }))
  gate.resolve()
  expect(new Set(await Promise.all([...asked, ...later]))).toEqual(new Set([1000]))
  expect(reads).toBe(2)
})

test('the table of IPv6 is read only for connections that are not in the first, and their owner is found there', async () => {
  const rest = '01 0:0 0:0 0 1000 0 77'
  const mapped = '0000000000000000FFFF00000100007F'
  const texts: Record<string, string> = {
    '/proc/net/tcp': `0: 0100007F:0001 0100007F:1F90 ${rest}`,
    '/proc/net/tcp6': `0: ${mapped}:0002 ${mapped}:1F90 ${rest.replace('1000', '2000')}`,
  }
  const read: string[] = []
  const ownerOf = readSocketOwner(async (table) => {
    read.push(table)
    return texts[table] ?? ''
  })
  const askFrom = (port: number) => ownerOf({ ...noPeer, address: '127.0.0.1', port })
  expect(await askFrom(1)).toBe(1000)
  expect(read).toEqual(['/proc/net/tcp'])
  expect(await Promise.all([askFrom(1), askFrom(2), askFrom(3)])).toEqual([1000, 2000, 'nobody'])
  expect(read).toEqual(['/proc/net/tcp', '/proc/net/tcp', '/proc/net/tcp6'])
})

test('for 2,000 that ask at once 20,000 connections are looked at once, in pieces: others have their turn in between', async () => {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  const rest = '01 00000000:00000000 00:00000000 00000000'
  const lines = Array.from(
    { length: 20_000 },
    (_, n) => `${n}: 0100007F:${hex(n + 1)} 0100007F:1F90 ${rest} ${n + 5} 0 77 1`,
  )
  const ownerOf = readSocketOwner(async () => lines.join('\n'))
  let isOver = false
  const watching = (async () => {
    let turns = 0
    for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    return turns
  })()
  const asked = Array.from({ length: 2_000 }, (_, n) =>
    ownerOf({ ...noPeer, address: '127.0.0.1', port: 20_000 - n }),
  )
  expect(await Promise.all(asked)).toEqual(asked.map((_, n) => 20_004 - n))
  isOver = true
  const turns = await watching
  // In one piece: 2. With a look at all lines for each that asks: thousands.
  expect(turns).toBeGreaterThanOrEqual(10)
  expect(turns).toBeLessThan(30)
})

test('where the system does not tell, it is the address', async () => {
  const sourceOf = createSources(readSocketOwner(() => Promise.reject(new Error('ENOENT'))))
  expect(await sourceOf({ address: '127.0.0.1', peer: noPeer })).toBe('127.0.0.1')
})
