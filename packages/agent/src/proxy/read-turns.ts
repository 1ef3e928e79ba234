import { connect } from 'node:net'
import { type LoopTurns, ProxyTurns } from '@fairlead/api'
import { parseAs } from '../process/check-schema.ts'

/** The heartbeat thread does nothing else, so it is fast. */
const ANSWER_WITHIN_MS = 1_000
const MOST_BYTES = 64 * 1024

/** Asks the heartbeat thread of the proxy at one socket. */
export interface TurnsReader {
  /**
   * Returns the loops of process `pid`, or the time since the first unanswered question: the process is
   * stopped, has no processor time, or its version has no heartbeat thread. Never throws.
   */
  ask(pid: number): Promise<readonly LoopTurns[] | { readonly muteMs: number }>
  /** Call when it answers its orders, or another process will be asked. */
  forget(): void
}

/** Asks the proxy at this Unix socket about its event loops; an answer of another process is ignored. */
export function createTurnsReader(socketPath: string): TurnsReader {
  let muteSince: number | null = null
  return {
    async ask(pid) {
      const turns = await readTurns(socketPath).catch(() => null)
      if (turns?.pid === pid) {
        muteSince = null
        return turns.loops
      }
      muteSince ??= performance.now()
      return { muteMs: Math.round(performance.now() - muteSince) }
    },
    forget() {
      muteSince = null
    },
  }
}

/** Throws without an answer in time, or for an invalid one. */
async function readTurns(socketPath: string): Promise<ProxyTurns> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(socketPath)
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (part: string) => {
    text += part
    if (text.length > MOST_BYTES) socket.destroy(new Error('it says too much'))
  })
  socket.on('end', () => resolve(text))
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('it closed the connection')))
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), ANSWER_WITHIN_MS)
  try {
    return parseAs(ProxyTurns, await promise)
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}
