import { type Address, Refusal } from '@fairlead/api'
import type { EngineTls, Reply } from '@fairlead/engine'
import { actorOf, type Caller } from '../../core/identity/access.ts'
import { type GivenCommand, judgeCommand } from '../../core/requests/judge-command.ts'
import type { AuditCounter } from '../../identity/audit/audit-counter.ts'
import type { Tls } from '../../tls/tls-service.ts'
import type { Databases } from '../databases/databases-service.ts'
import { addressesOf, trustOf } from './endpoints-service.ts'

/** Each needs a connection, and memory for a reply (`reconcile/look/ask-as-client.ts`). */
const MOST_AT_ONCE = 16
const MOST_OF_USER = 4
/** The result of a command. */
export type CommandOutcome =
  | { readonly end: 'answered'; readonly reply: Reply }
  | { readonly end: 'refused' | 'not sent' | 'unknown'; readonly why: string }

/** Runs a command like a client, on a separate connection. */
export type AskAsClient = (
  addresses: readonly Address[],
  command: { readonly words: readonly Buffer[]; readonly password: string; readonly tls: EngineTls | null },
) => Promise<CommandOutcome>

const codes = { refused: 'command_failed', 'not sent': 'unavailable', unknown: 'outcome_unknown' } as const

export type Commands = ReturnType<typeof createCommands>

/**
 * Runs API users' commands as a client of the database. Each command has a separate connection, as the user
 * of the database.
 */
export function createCommands(deps: {
  readonly databases: Pick<Databases, 'get'>
  readonly tls: Pick<Tls, 'current'>
  readonly counter: Pick<AuditCounter, 'record'>
  readonly askAsClient: AskAsClient
}) {
  const { databases, tls, counter, askAsClient } = deps
  const takePlace = createMutex()
  return {
    /**
     * Runs one command and returns its reply. Throws Refusal db_not_exist, command_not_allowed,
     * command_failed, too_many_requests or unavailable; outcome_unknown if it was sent and not answered.
     */
    async give(uid: number, given: GivenCommand, caller: Caller): Promise<Reply> {
      const view = await databases.get(uid)
      const { words, obstacle } = judgeCommand(given)
      if (obstacle !== undefined) throw new Refusal('command_not_allowed', `command: ${obstacle.why}`)
      const addresses = addressesOf(view)
      if (addresses.length === 0) throw new Refusal('unavailable', `database ${uid} has no address yet`)
      using _ = takePlace(caller.user.uid)
      const details = { command: nameOf(words) }
      await counter.record({ type: 'bdb_command_given', by: actorOf(caller), databaseUid: uid, details })
      const trust = view.database.tls ? trustOf(await tls.current()) : null
      const command = { words, password: view.database.userPassword, tls: trust }
      const outcome = await askAsClient(addresses, command)
      if (outcome.end === 'answered') return outcome.reply
      throw new Refusal(codes[outcome.end], outcome.why)
    },
  }
}

/** The name only, since arguments may be secret; `(unknown)` if it is no valid name. */
function nameOf([word]: readonly Buffer[]): string {
  const name = (word ?? Buffer.of()).toString('latin1').toUpperCase()
  return /^[A-Z][A-Z0-9._-]{0,31}$/.test(name) ? name : '(unknown)'
}

/** Limits parallel commands. Dispose of the result at the end. Throws too_many_requests. */
function createMutex(): (user: number) => Disposable {
  const users: number[] = []
  return (user) => {
    const own = users.filter((one) => one === user).length
    if (users.length >= MOST_AT_ONCE || own >= MOST_OF_USER)
      throw new Refusal('too_many_requests', 'too many commands are under way; try again later')
    users.push(user)
    return { [Symbol.dispose]: () => void users.splice(users.indexOf(user), 1) }
  }
}
