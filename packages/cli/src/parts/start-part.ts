import { type ChildProcess, spawn } from 'node:child_process'
import { type Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { withoutOrders } from '../output/without-orders.ts'
import type { PartCommand } from './server-command.ts'

/** A ready message has less than 1 KB. */
const LONGEST_NEWS = 16 * 1024
/** File descriptor of a part's channel in that part. */
const CHANNEL = 3

/**
 * Starts a part in a separate session, with a channel for its message. A part with another user gets no
 * terminal, where it could read input: its output is copied without control characters, and only the first
 * line of its channel is emitted as `message`. If it cannot start, its event `error` has the reason; without
 * memory, this function throws.
 */
export function startPart({ program, args, env, isOther }: PartCommand): ChildProcess {
  // Ctrl-C reaches the whole foreground group; only `up` handles it and stops its parts in order.
  if (!isOther)
    return spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true, env })
  const child = spawn(program, args, {
    // Not 'ipc': Node trusts the other end of such a channel, and would end this process on a malformed line.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...env, NODE_CHANNEL_FD: String(CHANNEL), NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
  })
  // It could not be started, and may have no streams; its event `error` will report that.
  if (child.pid === undefined) return child
  copy(child.stdout, process.stdout)
  copy(child.stderr, process.stderr)
  readNews(child.stdio[CHANNEL] as Readable, (news) => child.emit('message', news))
  return child
}

/** Emits the first line if it is JSON and short. Drops later lines, so that they do not block the part. */
function readNews(channel: Readable, tell: (news: unknown) => void): void {
  let line = ''
  let isOver = false
  channel.setEncoding('utf8')
  channel.on('error', () => undefined) // the part has ended
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

/** Undefined: no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Copies no faster than it can write, since the output may be endless. Drops the rest if the disk is full or
 * the reader has gone: part and process continue.
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
