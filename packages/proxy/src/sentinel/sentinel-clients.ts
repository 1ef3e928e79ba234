import type { Socket } from 'node:net'
import { createRequestScanner, makeCommandTable, scanRequest } from '@fairlead/engine'
import { inTurn, LINE_BYTES, REQUESTS_AT_ONCE, WORD_COSTS } from '../forwarding/turns.ts'
import { beginPiece, crumbOf, endPiece } from '../heartbeat/breadcrumb.ts'
import { remoteAddress } from '../listen/address-text.ts'
import { answer, messagesFor, type SentinelSession, type SentinelWorld } from './sentinel-answers.ts'
import { encodeReply } from './sentinel-reply.ts'

/** One client of the Sentinel answerer. */
export interface SentinelClient {
  /** Tells it what happened, if it listens to that. */
  publish(channel: string, text: string): void
  end(): void
}

/** No command that is answered here is nearly as long. */
const LONGEST_REQUEST = 16 * 1024
/** Of an answer that we write ourselves, as turns count: 64 in a turn. */
const ANSWER_COSTS = 64
/** For a subscriber that does not read: as much as the engines' hard limit would be for so few messages. */
const MOST_UNREAD_BYTES = 1024 * 1024

/** Answers what comes from `socket` until either side ends. `world` is asked for what is so at each command. */
export function serveSentinelClient(socket: Socket, id: number, world: () => SentinelWorld): SentinelClient {
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
  const reader = createReader(socket, crumb, world, obey)
  socket.on('data', (chunk) => {
    beginPiece('answers as a Sentinel', crumb)
    reader.take(chunk)
    endPiece()
  })
  socket.on('drain', reader.goOn)
  socket.on('error', () => socket.destroy())
  return {
    publish(channel, text) {
      const messages = messagesFor(session, channel, text)
      if (messages.length === 0 || socket.writableEnded) return
      socket.write(messages.map((message) => encodeReply(message, session.protocol)).join(''))
      if (socket.writableLength > MOST_UNREAD_BYTES) socket.destroy()
    },
    end: () => socket.destroy(),
  }
}

interface Reader {
  take(chunk: Buffer): void
  /** The client has read what it was answered. */
  goOn(): void
}

/** Calls `obey` for each request, in turns with other clients. The world does not change within a chunk. */
function createReader(
  socket: Socket,
  crumb: Uint8Array,
  world: () => SentinelWorld,
  obey: (words: readonly Buffer[], now: SentinelWorld) => void,
): Reader {
  const scanner = createRequestScanner(noted)
  scanner.keepAll = true
  /** What came behind a reply that the client has not read yet, or behind what it may ask in one turn. */
  let rest: Buffer | null = null
  let yielded = false
  let requestBytes = 0

  const take = (chunk: Buffer): void => {
    let at = 0
    let done = 0
    let now: SentinelWorld | undefined
    while (at < chunk.length && !socket.destroyed && !socket.writableEnded) {
      if (socket.writableNeedDrain || done > REQUESTS_AT_ONCE) {
        rest = chunk.subarray(at)
        socket.pause()
        if (done > REQUESTS_AT_ONCE) letOthersGo()
        return
      }
      const end = scanRequest(scanner, chunk, at)
      requestBytes += (end < 0 ? chunk.length : end) - at
      if (scanner.error !== undefined) return void refuse(socket, scanner.error)
      if (requestBytes > LONGEST_REQUEST) return void refuse(socket, 'too big request')
      if (end < 0) return
      done += ANSWER_COSTS + WORD_COSTS * scanner.words.length + Math.ceil(requestBytes / LINE_BYTES)
      requestBytes = 0
      at = end
      now ??= world()
      if (!scanner.empty) obey(scanner.words, now)
    }
  }
  const takeRest = (): void => {
    const later = rest
    rest = null
    if (later !== null) take(later)
    if (rest === null) socket.resume()
  }
  const letOthersGo = (): void => {
    yielded = true
    inTurn('answers as a Sentinel', crumb, () => {
      yielded = false
      takeRest()
    })
  }
  return {
    take,
    goOn() {
      if (!yielded) takeRest()
    },
  }
}

function refuse(socket: Socket, what: string): void {
  socket.end(`-ERR Protocol error: ${what}\r\n`)
}

/** All words of every command are kept, so none has to be noted. */
const noted = makeCommandTable({})
