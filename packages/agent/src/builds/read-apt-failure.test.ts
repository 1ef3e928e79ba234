import { expect, test } from 'vitest'
import { readAptFailure } from './read-apt-failure.ts'

const end = (stderr: string, late = false) => ({ code: 100, stdout: '', stderr, late })

const cases = [
  [
    'unreachable',
    "E: Failed to fetch http://archive.example/debian/dists/trixie/InRelease  Could not resolve 'archive.example'\nE: Some index files failed to download. They have been ignored, or old ones used instead.",
  ],
  [
    'unreachable',
    'E: Failed to fetch http://archive.example/debian/dists/trixie/InRelease  503  Service Unavailable [IP: 192.0.2.1 80]',
  ],
  [
    'unsigned',
    "W: GPG error: http://archive.example/debian trixie InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 78DBA3BC47EF2265\nE: The repository 'http://archive.example/debian trixie InRelease' is not signed.",
  ],
  [
    'suite_gone',
    "E: The repository 'http://archive.example/debian hamm Release' does not have a Release file.",
  ],
  [
    'disk_full',
    'E: Failed to fetch http://archive.example/x.deb  Error writing to file - write (28: No space left on device) [IP: 192.0.2.1 80]',
  ],
  [
    'damaged',
    'W: something else\nE: Failed to fetch http://archive.example/x.deb  Hash Sum mismatch\n   Hashes of expected file:\n    - SHA256:00\nE: Unable to fetch some archives.',
  ],
] as const

test.each(cases)('an error of apt in many lines becomes one line: %s', (fault, says) => {
  const error = readAptFailure('reading the package list of trixie', end(says))
  expect(error.fault).toBe(fault)
  expect(error.message).toMatch(/^reading the package list of trixie: .* \(E: .*\)$/)
  expect(error.message).not.toContain('\n')
})

test('an unknown failure is reported in the words of apt', () => {
  const error = readAptFailure('downloading', end('N: a note\nE: Something odd happened\nE: And more'))
  expect([error.fault, error.message]).toEqual(['failed', 'downloading: E: Something odd happened'])
  expect(readAptFailure('downloading', end('')).message).toBe(
    'downloading: apt ended with code 100 and no word',
  )
})

test('apt that was killed at its deadline is an archive that cannot be reached', () => {
  expect(readAptFailure('downloading', end('', true)).fault).toBe('unreachable')
})
