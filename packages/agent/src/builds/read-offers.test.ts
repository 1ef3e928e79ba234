import { expect, test } from 'vitest'
import { readOffers } from './read-offers.ts'

const line = (name: string, version: string, suite: string) =>
  ` ${name} | ${version} | http://archive.example/debian ${suite}/main amd64 Packages`

test("an engine's version is read out of Debian's", () => {
  const text = [
    line('valkey-tools', '8.0.1+dfsg1-1~bpo12+1', 'bookworm-backports'),
    line('redis-tools', '5:7.0.15-1~deb12u7', 'bookworm'),
    line('valkey-tools', '   9.1.2-1', 'sid'),
  ].join('\n')
  expect(readOffers(text).map(({ flavour, version, suite }) => [flavour, version, suite])).toEqual([
    ['valkey', '8.0.1', 'bookworm-backports'],
    ['redis', '7.0.15', 'bookworm'],
    ['valkey', '9.1.2', 'sid'],
  ])
})

test('a pre-release is no offer', () => {
  expect(readOffers(line('valkey-tools', '9.2.0~rc1-1', 'experimental'))).toEqual([])
  expect(readOffers(line('redis-tools', '5:8.0~rc1-1', 'experimental'))).toEqual([])
  expect(readOffers('N: Unable to locate package valkey-tools')).toEqual([])
})
