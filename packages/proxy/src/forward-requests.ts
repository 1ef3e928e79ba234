import { encodeCommand, hasReadName, isBetweenRequests, scanRequest } from '@fairlead/engine'
import { type Command, isBlocking, subscriptions, unmovable, wordAt } from './commands.ts'
import {
  type Connection,
  endConnection,
  isAnswered,
  type Link,
  type Noted,
  stash,
  steerClient,
} from './connection.ts'
import { afterQueueing, afterSuccess, WITHOUT_REPLY } from './connection-state.ts'

/** Bytes of the client: they go to the engine as they are, or into the stash where a request begins that may not go yet. */
export function takeRequests(connection: Connection, chunk: Buffer): void {
  const { link, requests, protocolError } = connection
  // It will be closed as soon as it has its replies; nothing can be read any more.
  if (protocolError !== undefined) return
  const mayBegin = isFlowing(connection)
  if (link === null || (!mayBegin && isBetweenRequests(requests)) || connection.stash.length > 0)
    stash(connection, chunk)
  else forward(connection, link, chunk)
}

/** Forwards what was stashed, as far as it may go now. */
export function forwardStash(connection: Connection): void {
  while (connection.stash.length > 0 && connection.link !== null && isFlowing(connection)) {
    const [chunk, ...rest] = connection.stash
    if (chunk === undefined) return
    connection.stash = rest
    connection.stashBytes -= chunk.length
    // What must wait again goes to the front: all behind it came later.
    const later = connection.stash
    connection.stash = []
    forward(connection, connection.link, chunk)
    connection.stash = [...connection.stash, ...later]
  }
  steerClient(connection)
  endIfDone(connection)
}

/** The client will send no more: once all is answered, its connection ends. One that would only wait ends at once. */
export function endIfDone(connection: Connection): void {
  const { link, clientEnded, protocolError, stash: waiting, mode, blocked, state } = connection
  if (mode === 'closed' || (!clientEnded && protocolError === undefined)) return
  if (link === null) {
    if (waiting.length === 0) endConnection(connection)
    return
  }
  // Blocked, the engine would carry out nothing more, and let go of a client that is gone.
  const onlyWaits = clientEnded && (blocked || state.unmovable !== '')
  if (waiting.length > 0 && !onlyWaits) return
  if (!onlyWaits && link.sent !== link.answered) return
  endConnection(connection, protocolError === undefined ? undefined : `ERR Protocol error: ${protocolError}`)
}

/** A request may begin to be forwarded. */
function isFlowing({ mode, blocked, protocolError }: Connection): boolean {
  return mode === 'serving' && !blocked && protocolError === undefined
}

function forward(connection: Connection, link: Link, chunk: Buffer): void {
  const { requests, ahead, owner } = connection
  let from = 0
  let at = 0
  while (at < chunk.length) {
    const end = scanRequest(requests, chunk, at)
    if (end < 0) break
    const begin = at
    at = end
    if (!requests.empty) {
      owner.count.commands += 1
      if (requests.command === undefined && !ahead.inTransaction && !ahead.silent && !ahead.skipsNext)
        link.sent += 1
      else if (note(connection, link)) {
        // The request is replaced by another: its own bytes do not go.
        if (begin > from) link.socket.write(chunk.subarray(from, begin))
        link.socket.write(discard)
        connection.nameless = null
        from = end
      }
    }
    if (!isFlowing(connection)) {
      send(connection, link, chunk.subarray(from, at))
      stash(connection, chunk.subarray(at))
      return
    }
  }
  if (requests.error !== undefined) {
    send(connection, link, chunk.subarray(from, at))
    // Read on, and dropped: that it goes away is only seen by reading.
    connection.protocolError = requests.error
    endIfDone(connection)
    return
  }
  if (connection.watchLost && !hasReadName(requests)) {
    send(connection, link, chunk.subarray(from, at))
    const rest = chunk.subarray(at)
    connection.nameless = connection.nameless === null ? rest : Buffer.concat([connection.nameless, rest])
  } else send(connection, link, chunk.subarray(from))
}

const discard = encodeCommand(['DISCARD'])

function send(connection: Connection, link: Link, bytes: Buffer): void {
  if (bytes.length === 0) return
  if (connection.nameless !== null) {
    link.socket.write(connection.nameless)
    connection.nameless = null
  }
  if (!link.socket.write(bytes)) connection.client.pause()
}

/** Takes down what its reply will change. True: it is an EXEC for which DISCARD has to go. */
function note(connection: Connection, link: Link): boolean {
  const { ahead, requests, watchLost } = connection
  const command = readCommand(connection)
  const wasInTransaction = ahead.inTransaction
  const nilInstead = watchLost && wasInTransaction && command.name === 'EXEC'
  lookAhead(connection, command)
  requests.keepAll = ahead.inTransaction
  if (unmovable.has(command.name)) connection.state = { ...connection.state, unmovable: command.name }
  if (command.name in subscriptions) {
    link.replies.keepWord = true
    if (command.cutShort) connection.state = { ...connection.state, unmovable: `a very long ${command.name}` }
  }
  if (isUnanswered(connection, command)) {
    link.unproven = true
    assumeSuccess(connection, command)
    return false
  }
  link.sent += 1
  const blocks = !wasInTransaction && isBlocking(command)
  connection.blocked ||= blocks
  link.noted.push({ ...noted(link, command), nilInstead, blocks })
  return nilInstead
}

/** A request of the client that was sent last, as it is taken down. */
export function noted(link: Link, command: Command): Noted {
  return {
    at: link.sent,
    command,
    isOwn: false,
    must: false,
    nilInstead: false,
    blocks: false,
    confirmations: null,
    confirmed: 0,
    sinceMs: performance.now(),
  }
}

function readCommand({ requests, ahead }: Connection): Command {
  const { command, words, cutShort } = requests
  if (!ahead.inTransaction) {
    if (command === undefined) return { name: '', args: [], cutShort: false }
    return { name: command.name, args: words, cutShort }
  }
  const [name, ...args] = words
  return { name: String(name ?? '').toUpperCase(), args, cutShort }
}

function lookAhead(connection: Connection, command: Command): void {
  const { ahead } = connection
  switch (command.name) {
    case 'MULTI':
      ahead.inTransaction = true
      return
    case 'EXEC':
    case 'DISCARD':
    case 'RESET':
      if (ahead.inTransaction || command.name === 'RESET') connection.watchLost = false
      ahead.inTransaction = false
      if (command.name === 'RESET') ahead.silent = false
      return
    case 'UNWATCH':
      if (!ahead.inTransaction) connection.watchLost = false
      return
    default:
  }
}

/** CLIENT REPLY is the one thing that works without a reply, and so has to be foreseen. */
function isUnanswered({ ahead }: Connection, command: Command): boolean {
  const setting = command.name === 'CLIENT' && wordAt(command, 0) === 'REPLY' ? wordAt(command, 1) : ''
  if (setting === 'ON' && !ahead.inTransaction) {
    ahead.silent = false
    ahead.skipsNext = false
    return false
  }
  if (setting === 'OFF' && !ahead.inTransaction) {
    ahead.silent = true
    return true
  }
  if (setting === 'SKIP' && !ahead.inTransaction) {
    ahead.skipsNext = !ahead.silent
    return true
  }
  const isSkipped = ahead.skipsNext
  ahead.skipsNext = false
  return ahead.silent || isSkipped
}

function assumeSuccess(connection: Connection, command: Command): void {
  if (command.name in subscriptions || isBlocking(command))
    connection.state = { ...connection.state, unmovable: `${command.name} ${WITHOUT_REPLY}` }
  connection.state = isQueuedIn(connection, command)
    ? afterQueueing(connection.state, command, true)
    : afterSuccess(connection.state, command)
}

/** In a transaction everything is queued but what ends it, or is refused in it. */
export function isQueuedIn({ state }: Connection, { name }: Command): boolean {
  return state.transaction !== null && !['EXEC', 'DISCARD', 'MULTI', 'WATCH', 'RESET', 'QUIT'].includes(name)
}

/** Asks the engine for nothing, as ourselves, so that its answer proves that everything before was carried out. */
export function probe(connection: Connection, link: Link): void {
  const { ahead } = connection
  const words =
    ahead.silent || ahead.skipsNext || link.unproven ? ['CLIENT', 'REPLY', 'ON'] : ['PING', 'fairlead']
  sendOwn(link, encodeCommand(words), 1, false)
}

/** Sends a command of ours; `replies` will be swallowed. */
export function sendOwn(link: Link, bytes: Buffer, replies: number, must: boolean): void {
  for (let n = 0; n < replies; n += 1) {
    link.sent += 1
    link.noted.push({ ...noted(link, nothing), isOwn: true, must })
  }
  link.socket.write(bytes)
}

const nothing: Command = { name: '', args: [], cutShort: false }

/** CLIENT REPLY was switched on for a probe: as the client had it, again. */
export function restoreSilence({ ahead }: Connection, link: Link): void {
  if (ahead.silent) link.socket.write(encodeCommand(['CLIENT', 'REPLY', 'OFF']))
  else if (ahead.skipsNext) link.socket.write(encodeCommand(['CLIENT', 'REPLY', 'SKIP']))
}

/** Whether the replies of everything forwarded are in. */
export function isDrained({ link, requests }: Connection): boolean {
  return link === null || (isBetweenRequests(requests) && isAnswered(link))
}
