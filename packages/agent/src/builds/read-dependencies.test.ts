import { expect, test } from 'vitest'
import { readLibraries } from './read-dependencies.ts'

test('libraries are followed from library to library, and the packages that only an installation needs are not', () => {
  const text = [
    'valkey-tools',
    '  Depends: adduser',
    '  Depends: libc6',
    '  Depends: libssl3',
    ' |Depends: libsystemd0',
    '  Depends: libelogind0',
    '    libother0',
    'adduser',
    '  Depends: libpam0g',
    'libc6',
    '  Depends: libgcc-s1',
    'libgcc-s1',
    '  Depends: gcc-12-base',
    '  PreDepends: libc6',
    'libssl3',
    '  Depends: <debconf-2.0>',
    '  Depends: libc6',
    'libsystemd0',
    '  Depends: zlib1g',
    'zlib1g',
  ].join('\n')
  expect(readLibraries('valkey-tools', text)).toEqual([
    'libc6',
    'libgcc-s1',
    'libssl3',
    'libsystemd0',
    'zlib1g',
  ])
})
