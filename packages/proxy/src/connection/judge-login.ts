import { ERROR, encodeCommand } from '@fairlead/engine'
import { type Command, wordAt } from '../remembered/command.ts'
import { isMisformed } from '../remembered/commands.ts'
import { mayCutReply } from '../remembered/transaction-state.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { noted, nothing, takeDown } from './noted.ts'
import { isPartlySent } from './under-way.ts'

/** A noted command is being forwarded, the last one that was sent: its answer may change what is known. */
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

/** A reply has come, which may prove a login. `name`: of its command, if that is noted; else empty. */
export function learnLogin(connection: Connection, { answered, replies }: Link, name: string): void {
  const { login, owner } = connection
  if (answered < login.after) return
  if (replies.type === ERROR) {
    if (!replies.text.startsWith('NOAUTH')) return
    login.is = 'refused'
    owner.logins.asked = true
  } else if (name !== 'RESET' && name !== 'QUIT') {
    // Engines carry out no other command before a login.
    login.is = 'confirmed'
    owner.onLogin(connection)
  }
}

/** The answer to the proxy's own PING has come. */
export function takeProof(connection: Connection, link: Link): void {
  const { login, owner, state } = connection
  link.proving = false
  const isRefused = link.replies.type === ERROR && link.replies.text.startsWith('NOAUTH')
  login.is = isRefused ? 'refused' : 'confirmed'
  if (isRefused || state.login === null) owner.logins.asked = isRefused
  if (!isRefused) owner.onLogin(connection)
}

const proof = encodeCommand(['PING'])

/**
 * The request that was read last switches replies off, and it is not known whether its engine will obey: for
 * a client without login it does not, and answers.
 */
export function isToBeProven({ login, requests, ahead }: Connection): boolean {
  if (login.is !== 'unknown' || requests.command?.name !== 'CLIENT' || ahead.inTransaction) return false
  const command = { name: 'CLIENT', args: requests.words, cutShort: false }
  return wordAt(command, 0) === 'REPLY' && wordAt(command, 1) !== 'ON'
}

/** The time to sign in is over: returns what is known about its login. If nothing is known, the engine is asked, for the next time. */
export function judgeLogin(connection: Connection): 'in' | 'out' | 'unknown' {
  const { login, link, mode, blocked, ahead, judged } = connection
  // A client that is held, or has no engine, cannot sign in.
  if (mode !== 'serving' || link === null) return 'unknown'
  // An engine answers a stranger at once.
  if (login.is === 'confirmed' || blocked) return 'in'
  if (login.is === 'refused') return 'out'
  if (link.proving) return 'unknown'
  if (link.sent === link.answered && !ahead.inTransaction && !isPartlySent(connection)) {
    proveLogin(link)
    return 'unknown'
  }
  // Requests were always under way, and none of many answers was the answer to a command.
  connection.judged += 1
  return judged < MOST_JUDGED ? 'unknown' : 'out'
}

/**
 * The request that was read last is a login that has to wait until nothing is under way. Redis 8.0 and valkey 8 answer a wrong one with nothing
 * while an earlier reply has not left them (redis/redis#15640, valkey-io/valkey#2106): the next replies would be taken for its reply.
 */
export function goesAlone({ requests, ahead }: Connection, link: Link): boolean {
  const { command: read, words } = requests
  const isNamed = read?.name === 'AUTH' || read?.name === 'HELLO'
  const isAnswered = !ahead.inTransaction && !ahead.silent && !ahead.skipsNext
  const isLogin = isNamed && mayCutReply({ name: read.name, args: words, cutShort: false })
  link.waitsForAll = isLogin && isAnswered && link.sent > link.answered
  return link.waitsForAll
}

/** Whether requests are kept back until the replies to all that was sent on this link have come. */
export function mustWait({ waitsForAll, sent, answered }: Link): boolean {
  return waitsForAll && sent > answered
}

const MOST_JUDGED = 10

/** Asks the engine whether the client has signed in, or need not. Nothing of the client is forwarded until that is answered. */
export function proveLogin(link: Link): void {
  link.sent += 1
  link.own += 1
  link.proving = true
  takeDown(link, { ...noted(link, nothing), isOwn: true, proves: true })
  link.socket.write(proof)
}

/** For the first clients it is not known whether they have to sign in. */
export function askForLogin({ owner, login }: Connection, link: Link): void {
  if (owner.logins.asked === null && login.is === 'unknown') proveLogin(link)
}
