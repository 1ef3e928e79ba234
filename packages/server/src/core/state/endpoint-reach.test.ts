import { expect, test } from 'vitest'
import { endpointHosts, onlyLoopback, placesOf, reachOf } from './endpoint-reach.ts'

const own = [
  { address: '127.0.0.1', isLocal: true },
  { address: '10.1.2.3', isLocal: false },
  { address: 'fd00::2', isLocal: false },
  { address: 'fe80::1', isLocal: true },
]
const reach = (wanted: readonly string[], suffix: string | null = null) => reachOf({ wanted, suffix }, own)

test('without an address, or with one of loopback, clients of this machine only find an endpoint', () => {
  expect(reach([])).toEqual(onlyLoopback)
  expect(reach(['127.0.0.2', '::1'])).toEqual(onlyLoopback)
  const local = { name: '127.0.0.1', addresses: ['127.0.0.1'], isExternal: false }
  expect(placesOf(onlyLoopback, 10_001)).toEqual([local])
  expect(endpointHosts(onlyLoopback)).toEqual(['127.0.0.1', 'localhost', '::1'])
})

test('all addresses are those that other machines can use', () => {
  expect(reach(['0.0.0.0']).addresses).toEqual(['10.1.2.3'])
  expect(reach(['0.0.0.0', '::']).addresses).toEqual(['10.1.2.3', 'fd00::2'])
})

test('the place for other machines comes first, has a name below the suffix, and is in the certificate', () => {
  expect(placesOf(reach(['fd00::2']), 10_001)[0]).toMatchObject({ name: 'fd00::2', isExternal: true })
  const named = reach(['10.1.2.3', 'fd00::2'], 'db.example.net')
  const external = {
    name: 'redis-10001.db.example.net',
    addresses: ['10.1.2.3', 'fd00::2'],
    isExternal: true,
  }
  expect(placesOf(named, 10_001)).toMatchObject([external, { name: '127.0.0.1', isExternal: false }])
  expect(endpointHosts(named)).toEqual(
    expect.arrayContaining(['10.1.2.3', 'fd00::2', '*.db.example.net', 'db.example.net']),
  )
})

test('with a suffix each endpoint has a name of its own, for clients of this machine too', () => {
  const named = reach([], 'fairlead.localhost')
  const local = { addresses: ['127.0.0.1'], isExternal: false }
  expect(placesOf(named, 10_001)).toEqual([{ name: 'redis-10001.fairlead.localhost', ...local }])
  expect(placesOf(named, 10_002)).toEqual([{ name: 'redis-10002.fairlead.localhost', ...local }])
  expect(endpointHosts(named)).toContain('*.fairlead.localhost')
})

test('an address that this machine does not have is missing, and stays the one that clients will use', () => {
  expect(reach(['10.9.9.9', '10.1.2.3'])).toMatchObject({
    addresses: ['10.9.9.9', '10.1.2.3'],
    missing: ['10.9.9.9'],
  })
})
