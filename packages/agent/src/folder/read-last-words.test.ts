import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pickLastWords, readLastWords, secretsOf } from './read-last-words.ts'

const at = '12:M 21 Nov 2026 03:51:02.123'

test('the warnings at the end of a log are picked, without those that every start prints', () => {
  const log = [
    `${at} # WARNING Memory overcommit must be enabled!`,
    `${at} * Server initialized`,
    `${at} # Warning: Could not create server TCP listening socket 127.0.0.1:1: bind: Address already in use`,
    `${at} # Failed listening on port 1 (tcp), aborting.`,
    '',
  ].join('\n')
  expect(pickLastWords(log)).toBe(
    'Warning: Could not create server TCP listening socket 127.0.0.1:1: bind: Address already in use; Failed listening on port 1 (tcp), aborting.',
  )
})

test('of a crash report, the line that says it is picked', () => {
  const log = [
    '=== REDIS BUG REPORT START: Cut & paste starting from here ===',
    `${at} # Redis 7.0.15 crashed by signal: 11, si_code: 0`,
    '------ STACK TRACE ------',
    'backtrace',
    `${at} # Guru Meditation follows`,
  ].join('\n')
  expect(pickLastWords(log)).toBe('Redis 7.0.15 crashed by signal: 11, si_code: 0')
})

test('of what is said about a snapshot that cannot be read, the line that says why is picked', () => {
  const log = [
    `${at} # Short read or OOM loading DB. Unrecoverable error, aborting now.`,
    `${at} # Internal error in RDB reading offset 0, function at rdb.c:3421 -> Unexpected EOF reading RDB file`,
    '[offset 0] Checking RDB file dump.rdb',
    '--- RDB ERROR DETECTED ---',
    '[info] 0 keys read',
    '[info] 0 already expired',
  ].join('\n')
  expect(pickLastWords(log)).toMatch(/^Internal error in RDB reading .*Unexpected EOF reading RDB file$/)
})

test('a process without log lines has no last words, and secrets are removed from those of others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'))
  const path = join(folder, 'engine.log')
  expect(await readLastWords(path, 0)).toBe('')
  const before = 'sh: not of this process\n'
  await writeFile(path, `${before}>>> 'masterauth hush'\nwrong number of arguments\n`)
  expect(await readLastWords(path, before.length, ['hush', ''])).toBe(
    ">>> 'masterauth ***'; wrong number of arguments",
  )
  await rm(folder, { recursive: true })
})

test('arguments of modules, and the folder of their files, are removed from what a module says', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'))
  const path = join(folder, 'engine.log')
  const modules = [{ sha256: 'a'.repeat(64), name: 'tally', args: ['KEY', 'hunter2', 'hunter2-and-more'] }]
  const secrets = secretsOf({ adminPassword: 'hush', userPassword: 'hash', modules })
  await writeFile(
    path,
    `${at} # <tally> hunter2-and-more is no KEY\n${at} # Module /srv/x/modules-of-node/${'a'.repeat(64)}.so failed\n`,
  )
  expect(await readLastWords(path, 0, secrets)).toBe(
    `<tally> *** is no KEY; Module ${'a'.repeat(64)}.so failed`,
  )
  await rm(folder, { recursive: true })
})

test('text of a client or a module is made printable, and cut', () => {
  expect(pickLastWords(`${at} # \x1b[2J\u202egone ${'x'.repeat(9_000)}`)).toMatch(/^\?\[2J\?gone x{390,}…$/)
})
