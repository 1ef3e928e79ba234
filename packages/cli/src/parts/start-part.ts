import { type ChildProcess, spawn } from 'node:child_process'
import { type Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { withoutOrders } from '../output/without-orders.ts'
import type { PartCommand } from './server-command.ts'

/** The message of a part that is ready has less than 1 KB. */
const LONGEST_NEWS = 16 * 1024
/** The channel of a part, in its own numbers. */
const CHANNEL = 3

/**
 * Starts a part of the control plane, in a session of its own, with a channel for its news. A part that runs as another user gets
 * no terminal, from which it could read what is typed there: its output is copied without control characters. Only the first line
 * of its channel is read, and emitted as `message`. If the part cannot be started, its event `error` says why; without memory,
 * this function throws.
 */
export function startPart({ program, args, env, isOther }: PartCommand): ChildProcess {
  // Ctrl-C reaches the whole foreground group; only `up` acts on it and stops its parts in order.
  if (!isOther)
    return spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true, env })
  const child = spawn(program, args, {
    // Not 'ipc': Node trusts the other end of such a channel, and ends this process for a line that is not in its own format.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...env, NODE_CHANNEL_FD: String(CHANNEL), NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
  })
  // It could not be started, as its event `error` will say, and may have no streams.
  if (child.pid === undefined) return child
  copy(child.stdout, process.stdout)
  copy(child.stderr, process.stderr)
  readNews(child.stdio[CHANNEL] as Readable, (news) => child.emit('message', news))
  return child
}

/** Passes the first line on, if it is JSON and not too long. Later lines are read, so that the part can go on, and dropped. */
function readNews(channel: Readable, tell: (news: unknown) => void): void {
  let line = ''
  let isOver = false
  channel.setEncoding('utf8')
  channel.on('error', () => undefined) // the part is gone
  channel.on('data', (piece: string) => {
    if (isOver) return
    line += piece
    const end = line.indexOf('\n')
    isOver = end >= 0 || line.length > LONGEST_NEWS
    const news = end < 0 || end > LONGEST_NEWS ? undefined : parse(line.slice(0, end))
    if (isOver) line = ''
    if (news !== undefined) tell(news)
  })
}

/** Undefined: it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Copies no faster than it can write, because the output may never end. If the disk is full, or the output is no longer read, the
 * rest is dropped: the part goes on, and so does this process.
 */
function copy(from: Readable | null, to: Writable): void {
  const decoder = new StringDecoder('utf8')
  if (!to.listeners('error').includes(dropIt)) to.on('error', dropIt)
  const clean = new Writable({
    write: (piece: Buffer, _, done) => void to.write(withoutOrders(decoder.write(piece)), () => done()),
  })
  from?.pipe(clean)
}

const dropIt = () => undefined
