import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One message of PostgreSQL's protocol on its way. */
export interface Passing {
  readonly from: 'client' | 'server'
  /** The letter of its type. The first message of a client has no letter: `start`. */
  readonly type: string
  /** The text of a statement. */
  readonly sql: string
  /** The number of the message among all that this relay has passed, from 1. */
  readonly n: number
}

/**
 * Fate of a message and its connection. `cut`: both ends are closed before it; `half`: in the middle of it;
 * `unanswered`: when the server answers it, and the answer is dropped.
 */
export type Fate = 'pass' | 'cut' | 'half' | 'unanswered'

/** The connection of a server to PostgreSQL, as a Unix socket in a folder, which a test disturbs. */
export interface PostgresRelay extends AsyncDisposable {
  readonly folder: string
  /** Decides about each message from now on. */
  judge(fate: (message: Passing) => Fate): void
  /** Sets the target of new connections: the folder of another PostgreSQL; null: none, they are closed. */
  aim(to: string | null): void
  /** No message passes any more, and no connection is closed. */
  freeze(): void
  /** Closes all connections. New connections are forwarded again. */
  repair(): void
}

const NAME = '.s.PGSQL.5432'
/** The types of messages with a statement, in the simple and in the extended protocol. */
const STATEMENTS = new Set(['Q', 'P'])

/** Opens a relay to the PostgreSQL whose socket is in the folder `to`. */
export async function startRelay(to: string): Promise<PostgresRelay> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-way-'))
  const sockets = new Set<Socket>()
  const state = { to: to as string | null, isFrozen: false, passed: 0, fate: (_: Passing): Fate => 'pass' }
  const server = createServer((near) => {
    if (state.to === null) return void near.destroy()
    const far = connect(join(state.to, NAME))
    passBetween(near, far, state)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
  })
  server.listen(join(folder, NAME))
  await once(server, 'listening')
  // A replica is another user than we are.
  await chmod(folder, 0o755)
  await chmod(join(folder, NAME), 0o777)
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    folder,
    judge(fate) {
      state.fate = fate
    },
    aim(next) {
      state.to = next
    },
    freeze() {
      state.isFrozen = true
    },
    repair() {
      end()
      state.isFrozen = false
    },
    async [Symbol.asyncDispose]() {
      server.close()
      end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface State {
  readonly isFrozen: boolean
  passed: number
  readonly fate: (message: Passing) => Fate
}

/** Passes messages both ways, one by one. */
function passBetween(near: Socket, far: Socket, state: State): void {
  let isDropped = false
  const cut = () => {
    near.destroy()
    far.destroy()
  }
  for (const [source, target, from] of [
    [near, far, 'client'],
    [far, near, 'server'],
  ] as const) {
    const split = splitMessages(from)
    source.on('data', (bytes: Buffer) => {
      for (const { message, ...what } of split(bytes)) {
        if (state.isFrozen || target.destroyed) return
        if (from === 'server' && isDropped) return cut()
        state.passed += 1
        const fate = state.fate({ ...what, from, n: state.passed })
        if (fate === 'cut') return cut()
        if (fate === 'half') return void target.write(message.subarray(0, message.length >> 1), cut)
        if (fate === 'unanswered') isDropped = true
        target.write(message)
      }
    })
    source.on('close', () => state.isFrozen || target.end())
  }
}

type Split = Pick<Passing, 'type' | 'sql'> & { readonly message: Buffer }

/** Cuts a stream into messages: a letter and a length; the first of a client has no letter. */
function splitMessages(from: Passing['from']): (bytes: Buffer) => readonly Split[] {
  let rest = Buffer.alloc(0)
  let isFirst = from === 'client'
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    const found: Split[] = []
    for (;;) {
      const before = isFirst ? 0 : 1
      if (rest.length < before + 4) return found
      const length = before + rest.readUInt32BE(before)
      if (rest.length < length) return found
      const type = isFirst ? 'start' : String.fromCharCode(rest[0] ?? 0)
      const body = rest.subarray(before + 4, length)
      const isStatement = from === 'client' && STATEMENTS.has(type)
      const sql = isStatement ? body.toString('utf8').replaceAll('\0', ' ').trim() : ''
      found.push({ type, sql, message: rest.subarray(0, length) })
      rest = rest.subarray(length)
      isFirst = false
    }
  }
}
