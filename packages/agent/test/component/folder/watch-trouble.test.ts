import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  describeTrouble,
  findTrouble,
  noTrouble,
  tellsUnreadable,
  watchTrouble,
} from '../../../src/folder/watch-trouble.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { everyEngine } from '../../engines.ts'

const at = '12:S 21 Nov 2026 03:51:02.123'
const troubleIn = (...lines: string[]) =>
  describeTrouble(findTrouble(noTrouble, lines.map((line) => `${at} ${line}\n`).join('')))

test.for([
  "# == CRITICAL == This replica is sending an error to its primary: 'ERR no' after processing the command 'set'",
  '# Background saving error',
  '# Write error saving DB on disk(rdbSaveRio): No space left on device',
  '# Error writing to the AOF file: No space left on device',
  "# Can't save in background: fork: Cannot allocate memory",
  '# Background AOF rewrite terminated by signal 9',
  '# Error condition on socket for SYNC: Connection refused',
  '# MASTER timeout: no data nor PING received...',
  '# Unable to AUTH to MASTER: -WRONGPASS invalid username-password pair or user is disabled.',
  '# Client id=9 addr=127.0.0.1:1 name= age=3 idle=0 flags=S db=0 scheduled to be closed ASAP for overcoming of output buffer limits.',
  '* Unable to partial resync with replica 127.0.0.1:1 for lack of backlog (Replica request was: 15).',
])('this log line is trouble: %s', (line) => {
  expect(troubleIn('* Ready to accept connections', line, '* Something else')).toBe(line.slice(2))
})

test.for([
  '# WARNING Memory overcommit must be enabled! Without it, a background save or replication may fail under low memory condition.',
  '# Setting secondary replication ID to b1bd, valid up to offset: 1. New replication ID is 3d02',
  '# Background RDB transfer terminated by signal 10',
  '# User requested shutdown...',
  '# Client id=9 addr=127.0.0.1:1 name= age=3 idle=0 flags=N db=0 scheduled to be closed ASAP for overcoming of output buffer limits.',
  '* Connection with primary lost.',
  '* (Non critical) Primary does not understand REPLCONF VERSION: -ERR Unrecognized REPLCONF option: VERSION',
])('this log line is no trouble: %s', (line) => {
  expect(troubleIn(line)).toBe('')
})

test('the reason is reported with its consequence, of the last time', () => {
  const lines = [
    "# Can't handle RDB format version 11",
    '# Failed trying to load the MASTER synchronization DB',
  ]
  expect(troubleIn('# Background saving error', '* x', ...lines, '* Reconnecting', ...lines, '* x')).toBe(
    "Can't handle RDB format version 11; Failed trying to load the MASTER synchronization DB",
  )
})

test.for([
  ["Can't handle RDB format version 80", true],
  // Valkey 9.1; the line after it is "Failed to load RDB", also for a sync that was cut.
  ["Can't handle foreign type or opcode 25 in RDB with version 12", true],
  ['Failed to load RDB', false],
  ['Short read or OOM loading DB. Unrecoverable error, aborting now.', false],
  ['Failed trying to load the MASTER synchronization DB from socket', false],
] as const)('unreadable data is distinguished from an interrupted sync: %s', ([line, is]) => {
  const trouble = findTrouble(noTrouble, `${at} # ${line}\n`)
  expect(describeTrouble(trouble)).not.toBe('')
  expect(tellsUnreadable(trouble)).toBe(is)
})

const failed = (reason: string, words = 'Failed trying to load the PRIMARY synchronization DB from socket') =>
  [reason, 'Failed to load RDB', words].map((line) => `${at} # ${line}\n`).join('')

test.for([
  ['once', [failed('Wrong thing in RDB')], false],
  ['twice for one reason', [failed('Wrong thing in RDB'), failed('Wrong thing in RDB')], true],
  [
    'in known words, and then no more',
    [
      failed("Can't handle RDB format version 80"),
      `${at} * MASTER <-> REPLICA sync: Finished with success\n`,
    ],
    false,
  ],
  ['for two reasons', [failed('Wrong thing in RDB'), failed('Bad thing in RDB')], false],
  [
    'twice because it was cut',
    [failed('Short read or OOM loading DB'), failed('Short read or OOM loading DB')],
    false,
  ],
  [
    'twice, with one that succeeded in between',
    [failed('Bad RDB'), `${at} * PRIMARY <-> REPLICA sync: Finished with success\n`, failed('Bad RDB')],
    false,
  ],
] as const)(
  'data that failed to load %s, in words that are not known, are unreadable or not',
  ([, texts, is]) => {
    expect(tellsUnreadable(texts.reduce(findTrouble, noTrouble))).toBe(is)
  },
)

test('data that cannot be written for a follower are noticed at the second attempt, until one succeeds', () => {
  const attempt = `${at} # Can't store key 'h' (db 0) in RDB version 11\n`
  const twice = [attempt, attempt].reduce(findTrouble, noTrouble)
  expect([findTrouble(noTrouble, attempt).unsent, twice.unsent]).toEqual([1, 2])
  const served = `${at} * Synchronization with replica 127.0.0.1:20301 succeeded\n`
  expect(findTrouble(twice, served).unsent).toBe(0)
  expect(describeTrouble(twice)).toContain("Can't store key")
})

test('the arguments of a refused command are not reported: they are data of the database', () => {
  const said = `# == CRITICAL == This replica is sending an error to its master: 'unknown command 'HPEXPIREAT', with args beginning with: 'patient:7' 'name' ' after processing the command '(null)'`
  expect(troubleIn(said)).toBe(
    "== CRITICAL == This replica is sending an error to its master: 'unknown command 'HPEXPIREAT'' after processing the command '(null)'",
  )
})

test('only appended whole lines are read, and each process begins again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'))
  const path = join(folder, 'engine.log')
  const watch = watchTrouble(path)
  const first = { startedAt: 1, logFrom: 0, secrets: ['hush'] }
  await watch.look(first)
  expect(watch.of(1)).toBe('')
  const wrote = `${at} # Background saving error: hush\n`
  await writeFile(path, `${wrote}${at} # Error writing to the AO`)
  const seen = async (trouble: string) => {
    await until(
      async () => {
        await watch.look(first)
        return watch.of(1) === trouble
      },
      { what: () => watch.of(1) },
    )
  }
  await seen('Background saving error: ***')
  expect(watch.lastLineOf(1)).toBe('Background saving error: ***')
  await appendFile(path, 'F file: No space\n')
  await seen('Background saving error: ***; Error writing to the AOF file: No space')

  await watch.look({ startedAt: 2, logFrom: wrote.length, secrets: [] })
  expect([watch.lastLineOf(1), watch.lastLineOf(2)]).toEqual(['', 'Error writing to the AOF file: No space'])
  expect([watch.of(1), watch.of(2)]).toEqual(['', 'Error writing to the AOF file: No space'])
  await rm(folder, { recursive: true })
})

test('a log is read once a second at most, however often it is asked for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-'))
  const path = join(folder, 'engine.log')
  const watch = watchTrouble(path)
  const began = performance.now()
  await watch.look({ startedAt: 1, logFrom: 0, secrets: [] })
  await writeFile(path, `${at} # Background saving error\n`)
  while (watch.of(1) === '') {
    await watch.look({ startedAt: 1, logFrom: 0, secrets: [] })
    await delay(5)
  }
  expect(performance.now() - began).toBeGreaterThanOrEqual(990)
  await rm(folder, { recursive: true })
})

const valkey = everyEngine.find(({ flavour, version }) => flavour === 'valkey' && version.startsWith('8.1.'))
const redis = everyEngine.find(({ flavour, version }) => flavour === 'redis' && version.startsWith('7.0.'))

test.runIf(valkey && redis)(
  'the report says why a replica cannot read the data of its primary, and only for that process',
  async () => {
    await using home = await makeHome()
    await using _ = await home.start()
    const primary = await makeSpec({}, valkey)
    const { adminPassword, userPassword, host, port } = primary
    const replica = await makeSpec({ adminPassword, userPassword, replicaOf: { host, port } }, redis)
    await home.client.putShard({ params: { id: 'p' }, body: primary })
    await home.becomes('p', { state: 'running', trouble: '' })
    using client = await connectAs('default', primary)
    await client.call('SET', 'key', 'value')
    await home.client.putShard({ params: { id: 'r' }, body: replica })

    let seen = ''
    // The log is read when its engine has written one of the two lines, too.
    const told = async () => {
      seen = (await home.shard('r'))?.trouble ?? ''
      return /^Can't handle RDB format version 11; Failed trying to load the MASTER synchronization DB/.test(
        seen,
      )
    }
    await until(told, { what: () => seen })
    expect(await home.shard('p')).toMatchObject({ state: 'running', trouble: '' })

    await home.client.putShard({ params: { id: 'r' }, body: { ...replica, replicaOf: null, revision: 'x' } })
    await home.becomes('r', { state: 'running', revision: 'x', trouble: '' })
  },
)
