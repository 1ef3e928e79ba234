import { expect, test } from 'vitest'
import { sourceOf } from './source-of.ts'

test('a source is an address, the network that a machine may have, or this machine', () => {
  for (const [address, source] of [
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8::ff', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['127.1.2.3', '127.0.0.1'],
    ['::1', '127.0.0.1'],
  ] as const) {
    expect([address, sourceOf(address)]).toEqual([address, source])
  }
})
