import { expect, test } from 'vitest'
import { chooseArchive, chooseSecurityArchive } from './choose-archive.ts'

const printed = (...files: readonly string[]) => files.map((file) => `'${file}' some_name 0 \n`).join('')

test('the archive is the address before /dists', () => {
  const text = printed(
    'http://archive.example/debian-security/dists/bookworm-security/InRelease',
    'http://archive.example/debian-security/dists/bookworm-security/main/binary-amd64/Packages.xz',
    'http://archive.example/debian/dists/bookworm/InRelease',
    'http://archive.example/debian/dists/bookworm-updates/InRelease',
    'http://archive.example/debian/dists/bookworm/main/binary-amd64/Packages.xz',
  )
  expect(chooseArchive(text)).toBe('http://archive.example/debian')
  expect(chooseSecurityArchive(text)).toBe('http://archive.example/debian-security')
})

test('a machine may have no security archive, and that of another distribution does not count', () => {
  const text = printed(
    'http://archive.example/debian/dists/bookworm/InRelease',
    'http://archive.example/debian/dists/bookworm/main/binary-amd64/Packages.xz',
    'http://archive.example/ubuntu/dists/noble-security/InRelease',
    'http://archive.example/ubuntu/dists/noble-security/main/binary-amd64/Packages.xz',
  )
  expect(chooseSecurityArchive(text)).toBeNull()
})

test("vendors' archives with suites of the same names are passed over", () => {
  const text = printed(
    'https://vendor.example/linux/debian/dists/bookworm/InRelease',
    'https://vendor.example/linux/debian/dists/bookworm/stable/binary-amd64/Packages.xz',
    'https://other.example/deb/dists/bookworm/InRelease',
    'https://other.example/deb/dists/bookworm/main/binary-amd64/Packages.xz',
    'mirror+file:///etc/apt/mirrors/debian.list/dists/bookworm/InRelease',
    'mirror+file:///etc/apt/mirrors/debian.list/dists/bookworm/main/binary-amd64/Packages.xz',
    'mirror+file:///etc/apt/mirrors/debian.list/dists/bookworm-backports/InRelease',
  )
  expect(chooseArchive(text)).toBe('mirror+file:///etc/apt/mirrors/debian.list')
})

test('a machine without a Debian source has no archive', () => {
  const text = printed(
    'http://archive.example/ubuntu/dists/noble/InRelease',
    'http://archive.example/ubuntu/dists/noble/main/binary-amd64/Packages.xz',
  )
  expect(chooseArchive(text)).toBeNull()
  expect(chooseArchive('')).toBeNull()
})
