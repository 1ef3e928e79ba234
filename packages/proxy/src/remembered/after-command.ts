import { afterClient, afterHello, withLogin } from './client-settings.ts'
import { type Command, wordAt } from './command.ts'
import { type SubscriptionKind, subscriptions } from './commands.ts'
import { type ConnectionState, freshState } from './connection-state.ts'
import { createTransaction, MOST_CHANGES, withQueued, withRefused } from './transaction-state.ts'
import { inTransaction, type Unmovable } from './unmovable.ts'

/** Returns the state after the engine has executed `command`, outside of a transaction or at its end. */
export function afterSuccess(state: ConnectionState, command: Command): ConnectionState {
  if (command.cutShort && mayBeRemembered(command)) return { ...state, unmovable: tooMuchOf(command) }
  switch (command.name) {
    case 'HELLO':
      return afterHello(state, command)
    case 'AUTH':
      return withLogin(state, command.args)
    case 'SELECT':
      // A longer word is no number: the engine refuses it, even if no reply shows that.
      return (command.args[0]?.length ?? 0) > 10
        ? state
        : { ...state, database: String(command.args[0]), databasesBefore: freshState.databasesBefore }
    case 'CLIENT':
      return afterClient(state, command)
    case 'READONLY':
    case 'READWRITE':
      return { ...state, readsFromReplica: command.name === 'READONLY' }
    case 'WATCH':
      return { ...state, watches: true }
    case 'UNWATCH':
      return { ...state, watches: false }
    case 'MULTI':
      return { ...state, transaction: createTransaction() }
    case 'EXEC':
      return afterExec(state, [])
    case 'DISCARD':
      return afterTransaction(state)
    case 'QUIT':
      return { ...state, isLeaving: true }
    case 'RESET':
      // The unanswered command was sent after RESET, so this reply proves nothing about it.
      return afterReset(state)
    default:
      return state
  }
}

function tooMuchOf({ name }: Command): Unmovable {
  return { code: 'too_much', why: `a ${name} command had too many arguments to be remembered` }
}

/** `CLIENT LIST ID 1 2 …` changes nothing, however many arguments it has. */
function mayBeRemembered(command: Command): boolean {
  if (command.name === 'HELLO') return true
  return command.name === 'CLIENT' && !['LIST', 'KILL'].includes(wordAt(command, 0))
}

function afterReset({ unmovable, settings }: ConnectionState): ConnectionState {
  return {
    ...freshState,
    // Engines keep the names that a client gives itself.
    settings: new Map([...settings].filter(([key]) => key.startsWith('SETINFO') || key === 'CAPA')),
    // The unanswered command was sent before RESET, so this reply proves nothing about it.
    unmovable: unmovable?.code === 'without_reply' ? unmovable : undefined,
  }
}

/** Returns the state after a transaction has ended (EXEC refused, DISCARD): nothing is watched any more. */
export function afterTransaction(state: ConnectionState): ConnectionState {
  return { ...state, transaction: null, watches: false }
}

/** Returns the state after EXEC. `failed`: numbers of the state-changing commands that returned errors. */
export function afterExec(state: ConnectionState, failed: readonly number[]): ConnectionState {
  const changes = state.transaction?.changes ?? []
  const after = afterTransaction(state)
  if (changes.length > MOST_CHANGES)
    return {
      ...after,
      unmovable: { code: 'too_much', why: 'a transaction changed the connection too often to be remembered' },
    }
  const failures = new Set(failed)
  const worked = changes.filter(({ at }) => !failures.has(at)).map(({ command }) => command)
  return worked.reduce(afterQueued, after)
}

/** Notes a command that no transaction may contain (WATCH, MULTI) and that the engine has refused in one. */
export function afterRefusal(state: ConnectionState, command: Command): ConnectionState {
  const { transaction } = state
  return transaction === null ? state : { ...state, transaction: withRefused(transaction, command) }
}

/** Returns the state after the engine has queued or refused `command` in a transaction. */
export function afterQueueing(state: ConnectionState, command: Command, isQueued: boolean): ConnectionState {
  const { transaction } = state
  return transaction === null ? state : { ...state, transaction: withQueued(transaction, command, isQueued) }
}

/** Cost of a name besides its bytes: memory in the set, and a command to the next engine. */
const CHANNEL_COSTS = 160

/** Returns the state after the engine has confirmed that a channel of `kind` was added or removed. */
export function afterSubscription(
  state: ConnectionState,
  {
    kind,
    adds,
    channel,
  }: { readonly kind: SubscriptionKind; readonly adds: boolean; readonly channel: string },
): ConnectionState {
  const set = state.subscribed[kind] as Set<string>
  if (adds === set.has(channel)) return state
  const bytes = channel.length + CHANNEL_COSTS
  const subscribedBytes = state.subscribedBytes + (adds ? bytes : -bytes)
  // An empty set may be the one shared by new connections.
  if (adds && set.size === 0)
    return { ...state, subscribedBytes, subscribed: { ...state.subscribed, [kind]: new Set([channel]) } }
  // Changed in place: a copy for each channel would be slow for many.
  if (adds) set.add(channel)
  else set.delete(channel)
  return { ...state, subscribedBytes }
}

/** Returns the state with the lasting effects of a command of EXEC. */
function afterQueued(state: ConnectionState, command: Command): ConnectionState {
  const isReply = command.name === 'CLIENT' && wordAt(command, 0) === 'REPLY'
  const isLasting = command.name in subscriptions || ['MONITOR', 'REPLCONF'].includes(command.name)
  if (isReply || isLasting)
    return { ...state, unmovable: inTransaction(isReply ? 'CLIENT REPLY' : command.name) }
  return afterSuccess(state, command)
}
