import type { Socket } from 'node:net'
import { type EngineConnection, EngineError, type Reply } from '@fairlead/engine'

/** The values in which the answers of one simulated engine differ from those of the others. */
export interface EngineFace {
  readonly port: number
  readonly runId: string
  readonly replid: string
}

/** Engines without processes, which answer as one real engine does. */
export interface SimulatedEngines {
  /** Answers on this socket as the engine with these values. */
  speak(socket: Socket, face: EngineFace): void
  /** How many commands were answered so far, by how many engines, and how many sockets are open. */
  answered(): { readonly commands: number; readonly engines: number; readonly tunnels: number }
}

/**
 * Commands whose answers are asked from the real engine once, and kept. Any other command answers OK, and
 * does nothing.
 */
const READS =
  /^(INFO|CONFIG GET|ACL (LIST|CAT|GETUSER|USERS|WHOAMI)|COMMAND|CLUSTER|MODULE LIST|CLIENT (LIST|ID|INFO)|MEMORY|DBSIZE|TIME|ROLE|FUNCTION (LIST|DUMP)|SCRIPT EXISTS|LATENCY)\b/

/** `template` is the real engine: idle, and with the same settings as all simulated ones. */
export function createSimulatedEngines(template: EngineConnection): SimulatedEngines {
  const open = new Set<Socket>()
  const asked = new Set<number>()
  let commands = 0
  const known = new Map<string, Promise<string>>()
  const ask = (words: readonly string[]) => {
    const key = words.join('\0')
    const reply = known.get(key) ?? askTemplate(template, words)
    known.set(key, reply)
    return reply
  }
  const answer = async (words: readonly string[], face: EngineFace): Promise<string> => {
    commands += 1
    const [name = ''] = words
    if (!READS.test(words.join(' ').toUpperCase()))
      return name.toUpperCase() === 'PING' ? '+PONG\r\n' : '+OK\r\n'
    const reply = await ask(words)
    if (name.toUpperCase() !== 'INFO') return reply
    asked.add(face.port)
    return withFace(reply, face)
  }
  return {
    speak(socket, face) {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      serve(socket, (words) => answer(words, face))
    },
    answered: () => ({ commands, engines: asked.size, tunnels: open.size }),
  }
}

async function askTemplate(template: EngineConnection, words: readonly string[]): Promise<string> {
  const [name = '', ...rest] = words
  try {
    return encode(await template.call(name, ...rest))
  } catch (cause) {
    if (cause instanceof EngineError) return `-${cause.message}\r\n`
    throw cause
  }
}

/** The value in RESP2; a text is always a bulk string. */
function encode(reply: Reply): string {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  return `*${reply.length}\r\n${reply.map(encode).join('')}`
}

/** An INFO text with the values of one process in it. */
function withFace(bulk: string, { port, runId, replid }: EngineFace): string {
  const text = bulk
    .slice(bulk.indexOf('\r\n') + 2, -2)
    .replace(/^run_id:.*$/m, `run_id:${runId}\r`)
    .replace(/^tcp_port:.*$/m, `tcp_port:${port}\r`)
    .replace(/^master_replid:.*$/m, `master_replid:${replid}\r`)
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

/** One command after the other, in the order in which they came. */
function serve(socket: Socket, answer: (words: readonly string[]) => Promise<string>): void {
  let rest = ''
  let last = Promise.resolve()
  socket.on('error', () => undefined)
  // HTTP has left one direction of the socket open.
  socket.on('end', () => void socket.end())
  socket.on('data', (piece: Buffer) => {
    rest += piece.toString('latin1')
    for (;;) {
      const command = takeCommand(rest)
      if (command === undefined) return
      rest = rest.slice(command.length)
      last = last
        .then(async () => void socket.write(await answer(command.words)))
        .catch(() => void socket.destroy())
    }
  })
}

/** The first command of a text, a list of bulk strings; undefined while the command is incomplete. */
export function takeCommand(
  text: string,
): { readonly words: readonly string[]; readonly length: number } | undefined {
  const end = text.indexOf('\r\n')
  if (end === -1) return undefined
  const words: string[] = []
  let at = end + 2
  for (let count = Number(text.slice(1, end)); count > 0; count -= 1) {
    const headEnd = text.indexOf('\r\n', at)
    if (headEnd === -1) return undefined
    const from = headEnd + 2
    const to = from + Number(text.slice(at + 1, headEnd))
    if (text.length < to + 2) return undefined
    words.push(text.slice(from, to))
    at = to + 2
  }
  return { words, length: at }
}
