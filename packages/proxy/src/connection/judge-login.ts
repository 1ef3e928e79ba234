import { ERROR, encodeCommand } from '@fairlead/engine'
import { asksForPeers } from '../remembered/client-query.ts'
import { type Command, wordAt } from '../remembered/command.ts'
import { isMisformed } from '../remembered/commands.ts'
import { mayCutReply } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { noted, nothing, takeDown } from './noted.ts'
import { isPartlySent } from './under-way.ts'

/** Called when a noted command has been forwarded: its answer may change the login state. */
export function foreseeLogin({ login }: Connection, { sent }: Link, command: Command): void {
  const { name } = command
  if (isMisformed(command)) return
  if (name === 'RESET') {
    login.is = 'unknown'
    login.after = sent
  } else if (login.is !== 'confirmed' && (name === 'AUTH' || name === 'HELLO')) {
    login.is = 'unknown'
    login.after = sent - 1
  }
}

/** Called for each reply: it may prove a login. `name`: of its command if that was noted, else empty. */
export function learnLogin(connection: Connection, { answered, replies }: Link, name: string): void {
  const { login, owner } = connection
  if (answered < login.after) return
  if (replies.type === ERROR) {
    if (!replies.text.startsWith('NOAUTH')) return
    login.is = 'refused'
    owner.logins.asked = true
  } else if (name !== 'RESET' && name !== 'QUIT') {
    // Before a login, engines execute no other command.
    login.is = 'confirmed'
    owner.onLogin(connection)
  }
}

/** Called with the answer to the proxy's own PING. */
export function takeProof(connection: Connection, link: Link): void {
  const {
    login,
    owner,
    session: { state },
  } = connection
  link.proving = false
  const isRefused = link.replies.type === ERROR && link.replies.text.startsWith('NOAUTH')
  login.is = isRefused ? 'refused' : 'confirmed'
  if (isRefused || state.login === null) owner.logins.asked = isRefused
  if (!isRefused) owner.onLogin(connection)
}

const proof = encodeCommand(['PING'])

/**
 * True if the request just read switches replies off while the login is unknown. An engine ignores that
 * switch for a client without login, and answers.
 */
export function isToBeProven({ login, input: { requests }, session: { ahead } }: Connection): boolean {
  if (login.is !== 'unknown' || requests.command?.name !== 'CLIENT' || ahead.inTransaction) return false
  const command = { name: 'CLIENT', args: requests.words, cutShort: false }
  return wordAt(command, 0) === 'REPLY' && wordAt(command, 1) !== 'ON'
}

/** Called when the login deadline is over. If the state is unknown, the engine is asked for the next call. */
export function judgeLogin(connection: Connection): 'in' | 'out' | 'unknown' {
  const {
    login,
    link,
    mode,
    judged,
    input: { blocked },
    session: { ahead },
  } = connection
  // A client that is held or has no engine cannot sign in.
  if (mode !== 'serving' || link === null) return 'unknown'
  // An engine answers an unauthenticated client immediately.
  if (login.is === 'confirmed' || blocked) return 'in'
  if (login.is === 'refused') return 'out'
  if (link.proving) return 'unknown'
  if (link.sent === link.answered && !ahead.inTransaction && !isPartlySent(connection)) {
    proveLogin(link)
    return 'unknown'
  }
  // Requests were always pending, and none of many answers proved a login.
  connection.judged += 1
  return judged < MOST_JUDGED ? 'unknown' : 'out'
}

/**
 * True if the request just read waits until no request is pending: a login, or a question about other
 * clients. Redis 8.0 and Valkey 8 send no error for a wrong password while an earlier reply is unsent
 * (redis/redis#15640, valkey-io/valkey#2106); the next replies would be taken for its reply.
 */
export function goesAlone({ input: { requests }, session: { ahead } }: Connection, link: Link): boolean {
  const { command: read, words } = requests
  const isNamed = read?.name === 'AUTH' || read?.name === 'HELLO'
  const isAnswered = !ahead.inTransaction && !ahead.silent && !ahead.skipsNext
  const isLogin = isNamed && mayCutReply({ name: read.name, args: words, cutShort: false })
  const isAlone = isLogin || (read?.name === 'CLIENT' && asksForPeers(words))
  link.waitsForAll = isAlone && isAnswered && link.sent > link.answered
  return link.waitsForAll
}

/** True if requests are kept back until all replies on this link have arrived. */
export function mustWait({ waitsForAll, sent, answered }: Link): boolean {
  return waitsForAll && sent > answered
}

const MOST_JUDGED = 10

/**
 * Asks the engine if the client has signed in or need not. No request of the client is forwarded until the
 * answer.
 */
export function proveLogin(link: Link): void {
  link.sent += 1
  link.own += 1
  link.proving = true
  takeDown(link, { ...noted(link, nothing), isOwn: true, proves: true })
  link.socket.write(proof)
}

/** Asks for the first clients only: it is unknown then if the engine requires a login. */
export function askForLogin({ owner, login }: Connection, link: Link): void {
  if (owner.logins.asked === null && login.is === 'unknown') proveLogin(link)
}
