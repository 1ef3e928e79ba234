import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeCommand } from './framing/encode-command.ts'
import { parseOnce } from './framing/parse-once.ts'
import type { PlainReply } from './framing/parse-plain-reply.ts'
import { createReplyReader, type ReplyLimits } from './framing/reply-reader.ts'

/** Commands to the engine at the other end of a socket, and their replies, which come in the same order. */
export interface Asking extends Disposable {
  /** Sends a command at once. Throws when the engine does not answer in time, or the connection has ended. */
  ask(words: readonly (string | Buffer)[]): Promise<PlainReply>
  /** The same for a question that is asked repeatedly. */
  askAgain(question: RepeatedQuestion): Promise<PlainReply>
  /** False from the first command on that was not answered in time, and once the connection is closed. */
  readonly usable: boolean
}

/** A command that one engine is asked repeatedly, and what it said last. Its bytes are made once, and an answer in the same bytes is the same value. */
export interface RepeatedQuestion {
  readonly bytes: Buffer
  last: { readonly bytes: Buffer; readonly reply: PlainReply } | null
}

/** It was not asked yet. */
export function repeatedQuestion(words: readonly string[]): RepeatedQuestion {
  return { bytes: encodeCommand(words), last: null }
}

interface Question {
  readonly repeats: RepeatedQuestion | null
  readonly answer: (reply: PlainReply) => void
  readonly fail: (cause: Error) => void
}

/** A stopped engine reads nothing: closing does not wait longer for the last bytes to leave. */
const CLOSE_WITHIN_MS = 20
/** An engine may say anything: a longer answer is not kept beside what was read from it. */
const MOST_KEPT_BYTES = 64 * 1024
/** A channel that only Fairlead uses has one message at a time. */
const MOST_MESSAGES = 1_000

interface AskingOptions {
  readonly answersWithinMs: number
  readonly replyLimits?: ReplyLimits | undefined
  readonly onMessage: (() => void) | undefined
}

/**
 * Takes a connected socket, and owns it. The engine is not trusted: an unrequested message, one that cannot
 * be parsed, and one that is larger than any answer Fairlead asks for end this connection, and nothing else.
 * `onMessage` is called for each message of a shard channel, of which at most 1,000 may come; without it,
 * none may.
 */
export function askInOrder(
  socket: Socket,
  { answersWithinMs, replyLimits, onMessage }: AskingOptions,
): Asking {
  const reader = createReplyReader(replyLimits)
  const questions: Question[] = []
  const isHeard = hearMessages(onMessage)
  let usable = true
  let closed: Error | null = null

  const close = (cause: Error) => {
    usable = false
    closed ??= cause
    for (const { fail } of questions.splice(0)) fail(closed)
  }
  const take = (reply: PlainReply) => {
    if (isHeard(reply)) return
    const question = questions.shift()
    if (question === undefined) throw new Error('it sent an unrequested message')
    question.answer(reply)
  }
  const parse = (bytes: Buffer) => parseAgain(questions[0]?.repeats ?? null, bytes)
  socket.on('data', (chunk: Buffer) => {
    if (closed !== null) return
    try {
      reader.read(chunk, take, parse)
    } catch (cause) {
      close(cause instanceof Error ? cause : new Error(String(cause)))
      socket.destroy()
    }
  })
  socket.on('error', close)
  socket.on('close', () => close(new Error('the connection is closed')))

  const writes = gatherWrites(socket)
  const late = () => {
    usable = false
  }
  const send = (bytes: Buffer, repeats: RepeatedQuestion | null) => {
    if (closed !== null) return Promise.reject(closed)
    // A command whose reply is late stays in its place: the reply may still come, and belongs to no other command.
    const { question, reply } = timedQuestion(answersWithinMs, repeats, late)
    questions.push(question)
    writes.add(bytes)
    return reply
  }
  return {
    ask: (words) => send(encodeCommand(words), null),
    askAgain: (question) => send(question.bytes, question),
    get usable() {
      return usable
    },
    [Symbol.dispose]() {
      writes.flush()
      if (closed === null) void endSoon(socket)
      close(new Error('the connection was closed by us'))
    },
  }
}

/** Of a question that is repeated nothing is read where the bytes are those of the answer before. */
function parseAgain(question: RepeatedQuestion | null, bytes: Buffer): PlainReply {
  if (question === null) return parseOnce(bytes)
  if (question.last?.bytes.equals(bytes) === true) return question.last.reply
  const reply = parseOnce(bytes)
  // Copied: the chunk that they are part of is larger.
  question.last = bytes.length <= MOST_KEPT_BYTES ? { bytes: Buffer.from(bytes), reply } : null
  return reply
}

/** A question, and the reply to it. Without an answer within `withinMs`, `onLate` is called and `reply` rejects. */
function timedQuestion(
  withinMs: number,
  repeats: RepeatedQuestion | null,
  onLate: () => void,
): { readonly question: Question; readonly reply: Promise<PlainReply> } {
  const { promise, resolve, reject } = Promise.withResolvers<PlainReply>()
  const late = setTimeout(() => {
    onLate()
    reject(new Error(`the command timed out after ${withinMs} ms`))
  }, withinMs)
  const ended = <Value>(settle: (value: Value) => void) => {
    return (value: Value) => {
      clearTimeout(late)
      settle(value)
    }
  }
  return { question: { repeats, answer: ended(resolve), fail: ended(reject) }, reply: promise }
}

/** Whether a reply is a message of a channel, which is told. */
function hearMessages(onMessage: (() => void) | undefined): (reply: PlainReply) => boolean {
  let messages = 0
  return (reply) => {
    if (onMessage === undefined || !isOfChannel(reply)) return false
    messages += 1
    if (messages > MOST_MESSAGES) throw new Error(`it sent more than ${MOST_MESSAGES} messages`)
    if (reply[0] === 'smessage') onMessage()
    return true
  }
}

/** The messages that engines send unasked to a connection that has subscribed to shard channels. */
function isOfChannel(reply: PlainReply): reply is readonly PlainReply[] {
  return Array.isArray(reply) && (reply[0] === 'smessage' || reply[0] === 'sunsubscribe')
}

/**
 * Commands that are asked together are one write: a look sends several to each of dozens of engines. A piece for each (`cork`) costs the kernel, and Node,
 * a third more.
 */
function gatherWrites(socket: Socket): { add(bytes: Buffer): void; flush(): void } {
  let gathered: Buffer[] = []
  const flush = () => {
    const [first, ...others] = gathered
    gathered = []
    if (first !== undefined && !socket.destroyed)
      socket.write(others.length === 0 ? first : Buffer.concat([first, ...others]))
  }
  return {
    flush,
    add(bytes) {
      gathered.push(bytes)
      if (gathered.length === 1) process.nextTick(flush)
    },
  }
}

async function endSoon(socket: Socket): Promise<void> {
  socket.destroySoon()
  if (socket.destroyed) return
  await delay(CLOSE_WITHIN_MS)
  socket.destroy()
}
