import { once } from 'node:events'
import { connect } from 'node:net'
import { createReplyScanner, encodeCommand, scanReply } from '@fairlead/engine'

/** A client that sends one command after the other and reads each message unchanged. */
export interface Talker extends Disposable {
  /** The engine's answer to a command: as many messages as it has replies. */
  ask(words: readonly Uint8Array[]): Promise<string>
  /** The bytes of the next command, and the number of its replies. */
  request(words: readonly Uint8Array[]): { readonly bytes: Buffer; readonly replies: number }
  /** Sends without waiting. */
  send(bytes: Uint8Array): void
  /** The next messages that are answers. */
  take(count: number): Promise<string>
  /** The next unrequested message. */
  hear(): Promise<string>
  /** The unrequested messages that were not read. */
  unheard(): readonly string[]
}

/**
 * Long enough for a busy machine: after this there is no answer. Every row is answered, so none waits for it.
 */
const PATIENCE_MS = 60_000

export async function talk(port: number): Promise<Talker> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const inbox = createInbox()
  socket.on('data', inbox.add)
  socket.on('error', () => undefined)
  socket.on('close', inbox.end)
  let silent = false
  let skips = false
  /** CLIENT REPLY has no answer, and stops the answers of other commands. */
  const repliesOf = (words: readonly Uint8Array[]): number => {
    const [name = '', sub = '', third = ''] = words.map((word) => String(word).toUpperCase())
    if (name === 'CLIENT' && sub === 'REPLY') {
      silent = third === 'OFF'
      skips = third === 'SKIP'
      return third === 'ON' ? 1 : 0
    }
    if (silent || skips) {
      skips = false
      return 0
    }
    return /^[PS]?(UN)?SUBSCRIBE$/.test(name) ? Math.max(1, words.length - 1) : 1
  }
  const request: Talker['request'] = (words) => ({ bytes: encodeCommand(words), replies: repliesOf(words) })
  return {
    request,
    async ask(words) {
      const { bytes, replies } = request(words)
      socket.write(bytes)
      return inbox.take(replies)
    },
    send: (bytes) => void socket.write(bytes),
    take: inbox.take,
    hear: inbox.hear,
    unheard: inbox.unheard,
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/**
 * The invalidation that a tracking client gets at a handover, because the new engine does not know its cached
 * keys. A single engine sends no such message, so it is left out here;
 * packages/proxy/test/component/remembered/replay.test.ts looks for it. A client that moves while a key
 * changes may be told twice: by the former primary, which is a replica then, and by the new one. The second
 * time is left out, too.
 */
const forgetAll = '>2\r\n$10\r\ninvalidate\r\n_\r\n'

function createInbox() {
  const scanner = createReplyScanner()
  scanner.keepWord = true
  const answers: string[] = []
  const messages: string[] = []
  const invalidations = new Set<string>()
  let rest: Buffer = Buffer.alloc(0)
  let scanned = 0
  let isClosed = false
  let wake: () => void = () => undefined
  let turn: Promise<unknown> = Promise.resolve()
  const one = async (from: string[]): Promise<string> => {
    const deadline = performance.now() + PATIENCE_MS
    while (from.length === 0) {
      if (isClosed) return 'closed'
      const left = deadline - performance.now()
      if (left <= 0) return 'no answer'
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, left)
      wake = resolve
      await promise
      clearTimeout(timer)
    }
    return from.shift() ?? ''
  }
  return {
    add(chunk: Buffer) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      for (;;) {
        const end = scanReply(scanner, rest, scanned)
        if (end < 0) break
        const message = rest.toString('latin1', 0, end)
        if (message !== forgetAll && !invalidations.has(message)) {
          if (scanner.word === 'invalidate') invalidations.add(message)
          const isMessage = /^[ps]?message$/.test(scanner.word) || scanner.word === 'invalidate'
          ;(isMessage && /^[>*]/.test(message) ? messages : answers).push(message)
        }
        rest = rest.subarray(end)
        scanned = 0
      }
      scanned = rest.length
      wake()
    },
    end() {
      isClosed = true
      wake()
    },
    // One after the other: several callers may use one client.
    take(count: number): Promise<string> {
      const taken = turn.then(async () => {
        let text = ''
        for (let n = 0; n < count; n += 1) text += await one(answers)
        return text
      })
      turn = taken
      return taken
    },
    hear: () => one(messages),
    unheard: () => [...answers, ...messages],
  }
}
