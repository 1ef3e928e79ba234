import { connect } from 'node:net'
import { type LoopTurns, ProxyTurns } from '@fairlead/api'
import { parseAs } from '../process/check-schema.ts'

/** The heartbeat thread does nothing else. */
const ANSWER_WITHIN_MS = 1_000
const MOST_BYTES = 64 * 1024

/** Asks the heartbeat thread of the proxy at one socket. */
export interface TurnsReader {
  /**
   * The state of the loops of process `pid`; or the time since the first question without an answer: the
   * process is stopped, or starved, or its version has no heartbeat thread. Never throws.
   */
  ask(pid: number): Promise<readonly LoopTurns[] | { readonly muteMs: number }>
  /** It answers its orders, or another process is asked from now on. */
  forget(): void
}

/** Asks the proxy at this Unix socket how its event loops turn; an answer of another process counts as none. */
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

/** Throws when there is no answer in time, or none that can be understood. */
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
