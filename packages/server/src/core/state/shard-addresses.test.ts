import { expect, test } from 'vitest'
import { addressOnRecord, addressToFollow, plainAddress } from './shard-addresses.ts'

const host = '127.0.0.1'
const records = [
  { host, port: 21_000, tlsPort: 21_001 },
  { host, port: 21_002, tlsPort: null },
]

test('a TLS port is mapped to the port of its shard, and other ports stay as they are', () => {
  expect(plainAddress({ host, port: 21_001 }, records)).toEqual({ host, port: 21_000 })
  expect(plainAddress({ host, port: 21_002 }, records)).toEqual({ host, port: 21_002 })
  expect(plainAddress({ host: '10.0.0.1', port: 21_001 }, records)).toEqual({
    host: '10.0.0.1',
    port: 21_001,
  })
})

test.each([0, 21_001, 21_000])(
  'a node is recognized by its bus port, also while it is reported at port %i',
  (port) => {
    const known = addressOnRecord({ address: { host, port }, busPort: 31_000 }, records)
    expect(known).toEqual({ host, port: 21_000 })
  },
)

test('a node whose bus port belongs to no shard keeps its reported address', () => {
  const node = { address: { host, port: 29_000 }, busPort: 39_000 }
  expect(addressOnRecord(node, records)).toEqual(node.address)
  expect(addressOnRecord({ address: { host, port: 1 }, busPort: 31_002 }, records)).toEqual({ host, port: 1 })
})

test('a shard follows over TLS if both can, and otherwise plain', () => {
  const speaks = { host, port: 21_000, tlsPort: 21_001 }
  const plain = { host, port: 21_002, tlsPort: null }
  expect(addressToFollow(speaks, true)).toEqual({ host, port: 21_001, tls: true })
  expect(addressToFollow(speaks, false)).toEqual({ host, port: 21_000, tls: false })
  expect(addressToFollow(plain, true)).toEqual({ host, port: 21_002, tls: false })
})
