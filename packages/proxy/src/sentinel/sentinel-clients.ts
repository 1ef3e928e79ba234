import type { Socket } from 'node:net'
import { createRequestScanner, makeCommandTable, scanRequest } from '@fairlead/engine'
import type { Allowance } from '../connection/allowance.ts'
import {
  beginTurn,
  COSTS_OF_A_LOOK,
  endTurn,
  inTurn,
  isTurnOver,
  LINE_BYTES,
  WORD_COSTS,
} from '../forwarding/turns.ts'
import { crumbOf } from '../heartbeat/breadcrumb.ts'
import { remoteAddress } from '../listen/address-text.ts'
import { answer, messagesFor, type SentinelSession, type SentinelWorld } from './sentinel-answers.ts'
import { encodeReply } from './sentinel-reply.ts'

/** One client of the Sentinel answerer. */
export interface SentinelClient {
  /** Sends a message to the client, if it has subscribed to the channel. */
  publish(channel: string, text: string): void
  /** True if the client has subscribed to any channel. */
  listens(): boolean
  end(): void
}

/** Limit of a request: all answered commands are much shorter. */
const LONGEST_REQUEST = 16 * 1024
/** Limit of the words of a request, because each takes memory. */
const MOST_KEPT_BYTES = 64 * 1024
/** Cost of an answer, in plain requests. */
const ANSWER_COSTS = 64
/**
 * Maximum number of unread bytes of a subscriber: a message above it closes the connection, like the engines'
 * hard limit. Messages are rare.
 */
const MOST_UNREAD_BYTES = 1024 * 1024

/** Answers the requests of `socket` until either side ends. `world` returns the present state. */
export function serveSentinelClient(
  socket: Socket,
  id: number,
  allowance: Allowance,
  world: () => SentinelWorld,
): SentinelClient {
  const session: SentinelSession = {
    id,
    protocol: 2,
    clientName: '',
    channels: new Set(),
    patterns: new Set(),
  }
  const crumb = crumbOf(remoteAddress(socket))
  const obey = (words: readonly Buffer[], now: SentinelWorld): void => {
    const { replies, ends = false } = answer(
      words.map((word) => word.toString('utf8')),
      session,
      now,
    )
    socket.write(replies.map((reply) => encodeReply(reply, session.protocol)).join(''))
    if (ends) socket.end()
  }
  const reader = createReader(socket, { allowance, crumb }, world, obey)
  socket.on('data', (chunk) => {
    if (!beginTurn(allowance, 'answers as a Sentinel', crumb, chunk.length)) {
      reader.setAside(chunk)
      return
    }
    reader.take(chunk)
    endTurn(allowance)
  })
  socket.on('drain', reader.proceed)
  socket.on('error', () => socket.destroy())
  return {
    publish(channel, text) {
      const messages = messagesFor(session, channel, text)
      if (messages.length === 0 || socket.writableEnded) return
      socket.write(messages.map((message) => encodeReply(message, session.protocol)).join(''))
      if (socket.writableLength > MOST_UNREAD_BYTES) socket.destroy()
    },
    listens: () => session.channels.size + session.patterns.size > 0,
    end: () => socket.destroy(),
  }
}

interface Turns {
  readonly allowance: Allowance
  readonly crumb: Uint8Array
}

interface Reader {
  take(chunk: Buffer): void
  /** Postpones a chunk until the client's turn. */
  setAside(chunk: Buffer): void
  /** Called when the client has read its answers. */
  proceed(): void
}

/** Calls `obey` for each request, in turns with other clients. The world does not change within a chunk. */
function createReader(
  socket: Socket,
  turns: Turns,
  world: () => SentinelWorld,
  obey: (words: readonly Buffer[], now: SentinelWorld) => void,
): Reader {
  const scanner = createRequestScanner(noted)
  scanner.keepAll = true
  scanner.keepsMost = MOST_KEPT_BYTES
  const rest = createRest(socket, turns, (chunk) => take(chunk))
  let requestBytes = 0

  const take = (chunk: Buffer): void => {
    let at = 0
    let done = 0
    let now: SentinelWorld | undefined
    while (at < chunk.length && !socket.destroyed && !socket.writableEnded) {
      if (socket.writableNeedDrain) {
        rest.keep(chunk.subarray(at))
        return
      }
      if (done > COSTS_OF_A_LOOK) {
        done = 0
        if (isTurnOver()) {
          rest.setAside(chunk.subarray(at))
          return
        }
      }
      // Only as much as may be examined in one turn.
      const last = Math.min(chunk.length, at + LONGEST_REQUEST + 1 - requestBytes)
      const end = scanRequest(scanner, chunk.subarray(0, last), at)
      requestBytes += (end < 0 ? last : end) - at
      if (scanner.error !== undefined) return void refuse(socket, scanner.error)
      if (requestBytes > LONGEST_REQUEST || scanner.cutShort) return void refuse(socket, 'too big request')
      if (end < 0) return
      done += ANSWER_COSTS + WORD_COSTS * scanner.words.length + Math.ceil(requestBytes / LINE_BYTES)
      requestBytes = 0
      at = end
      now ??= world()
      if (!scanner.empty) obey(scanner.words, now)
    }
  }
  return { take, ...rest }
}

/** Bytes after unread replies, or beyond the requests of one turn. */
function createRest(
  socket: Socket,
  { allowance, crumb }: Turns,
  take: (chunk: Buffer) => void,
): Pick<Reader, 'proceed' | 'setAside'> & { keep(chunk: Buffer): void } {
  let rest: Buffer | null = null
  let yielded = false
  const keep = (chunk: Buffer): void => {
    rest = rest === null ? chunk : Buffer.concat([rest, chunk])
    socket.pause()
  }
  const takeRest = (): void => {
    const later = rest
    rest = null
    if (later !== null) take(later)
    if (rest === null) socket.resume()
  }
  return {
    keep,
    setAside(chunk) {
      keep(chunk)
      if (yielded) return
      yielded = true
      inTurn(allowance, 'answers as a Sentinel', crumb, () => {
        yielded = false
        takeRest()
      })
    },
    proceed() {
      if (!yielded) takeRest()
    },
  }
}

function refuse(socket: Socket, what: string): void {
  socket.end(`-ERR Protocol error: ${what}\r\n`)
}

/** All words of every command are kept, so no command is noted. */
const noted = makeCommandTable({})
