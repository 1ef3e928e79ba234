import { Refusal } from '@fairlead/api'
import { expect, test } from 'vitest'
import type { AuditEvent } from '../../core/identity/audit-record.ts'
import type { DatabaseView } from '../databases/databases-service.ts'
import { type AskAsClient, type CommandOutcome, createCommands } from './commands-service.ts'

/** Serves a database with an endpoint; each command ends with the result of `end`. */
function serve(end: () => CommandOutcome | Promise<CommandOutcome>) {
  const audited: AuditEvent[] = []
  const asked: Parameters<AskAsClient>[] = []
  const view = { database: { uid: 1, endpointPort: 7_000, tls: false, userPassword: 'secret' }, shards: [] }
  const commands = createCommands({
    databases: {
      get: async (uid) => {
        if (uid !== 1) throw new Refusal('db_not_exist')
        return view as unknown as DatabaseView // as much of it as is read
      },
    },
    tls: { current: async () => Promise.reject(new Error('this database has no TLS')) },
    counter: { record: async (event) => void audited.push(event) },
    askAsClient: async (...question) => {
      asked.push(question)
      return await end()
    },
  })
  const give = (command: string, uid = 1, user = 1) => {
    const mia = { uid: user, name: 'mia', grants: [] }
    return commands.give(uid, { command }, { address: '127.0.0.1', token: null, user: mia })
  }
  return { give, audited, asked }
}
const codeOf = (cause: unknown) => (cause instanceof Refusal ? cause.code : cause)

test('a command is given with the password of the database, and the audit has its name, not its words', async () => {
  const { give, audited, asked } = serve(() => ({ end: 'answered', reply: ['a', 1, null] }))
  expect(await give('set key "a secret"')).toEqual(['a', 1, null])
  const [[addresses, command] = []] = asked
  expect(addresses).toEqual([{ host: '127.0.0.1', port: 7_000 }])
  expect(command?.password).toBe('secret')
  expect(command?.words.map(String)).toEqual(['set', 'key', 'a secret'])
  expect(audited).toMatchObject([
    { type: 'bdb_command_given', databaseUid: 1, by: { name: 'mia' }, details: { command: 'SET' } },
  ])
  expect(JSON.stringify(audited)).not.toContain('secret')
})

test('a name that may be a secret is not in the audit either', async () => {
  const { give, audited } = serve(() => ({ end: 'answered', reply: null }))
  await give('"my password!" x')
  expect(audited).toMatchObject([{ details: { command: '(unknown)' } }])
})

test.each([
  ['refused', 'command_failed'],
  ['not sent', 'unavailable'],
  ['unknown', 'outcome_unknown'],
] as const)('a command that is %s is answered %s, with the reason', async (end, code) => {
  const { give } = serve(() => ({ end, why: 'the reason' }))
  const cause: unknown = await give('PING').catch((error) => error)
  expect([codeOf(cause), String(cause)]).toEqual([code, expect.stringContaining('the reason')])
})

test('what cannot be given is neither sent nor recorded', async () => {
  const { give, audited, asked } = serve(() => ({ end: 'answered', reply: null }))
  expect(await give('SUBSCRIBE a').catch(codeOf)).toBe('command_not_allowed')
  expect(await give('PING', 2).catch(codeOf)).toBe('db_not_exist')
  expect([audited, asked]).toEqual([[], []])
})

test('a user has four commands under way at most, all users sixteen; one that has ended makes room', async () => {
  const { promise, resolve } = Promise.withResolvers<CommandOutcome>()
  const { give } = serve(() => promise)
  const under = Array.from({ length: 16 }, (_, n) => give('PING', 1, Math.floor(n / 4)))
  await Promise.resolve()
  expect(await give('PING', 1, 0).catch(codeOf)).toBe('too_many_requests')
  expect(await give('PING', 1, 9).catch(codeOf)).toBe('too_many_requests')
  resolve({ end: 'answered', reply: 'PONG' })
  await Promise.all(under)
  expect(await give('PING', 1, 0)).toBe('PONG')
})
