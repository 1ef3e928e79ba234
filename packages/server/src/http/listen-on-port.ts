import { readdir, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, readListeners } from '@fairlead/engine'

/** A server that was asked to stop answers its last requests first, and keeps the port meanwhile. */
const FREE_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 50
/** A port that another program has. */
const TRY_AGAIN_MS = 1_000

/** Where to listen, and what an operator can change about it. */
export interface ListenPlace {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** The variables of address and port, for messages. */
  readonly settings: { readonly host: string; readonly port: string }
}

/** Of a server that looks after databases meanwhile. */
export interface Patience {
  /** Called once. `why` names the process that has the port. */
  readonly onTaken: (why: string) => void
  /** Aborted, it ends the wait: an error. */
  readonly stop: AbortSignal
}

interface Waiting {
  readonly withinMs?: number
  readonly patience?: Patience | undefined
}

/**
 * Listens at a port, and answers with what `listen` does. One that is taken is waited for, `withinMs` at most: our own former process may be
 * ending. With `patience` it is waited for longer, for as long as it takes. Otherwise throws an error that names the process that has it; in any case one that names
 * the setting of an address that this machine does not have.
 */
export async function listenOnPort<T>(
  listen: (place: { readonly host: string; readonly port: number }) => Promise<T>,
  place: ListenPlace,
  { withinMs = FREE_WITHIN_MS, patience }: Waiting = {},
): Promise<T> {
  const { host, port } = place
  const deadline = performance.now() + withinMs
  while (port !== 0 && (await isTaken(host, port)) && performance.now() < deadline)
    await pause(LOOK_AGAIN_MS, undefined, { signal: patience?.stop })
  for (let isTold = false; ; isTold = true) {
    try {
      return await listen({ host, port })
    } catch (cause) {
      const why = await explain(cause, place)
      if (patience === undefined || codeOf(cause) !== 'EADDRINUSE') throw why
      if (!isTold) patience.onTaken(why.message)
      await pause(TRY_AGAIN_MS, undefined, { signal: patience.stop })
    }
  }
}

/** What a person can change about it. */
async function explain(cause: unknown, { host, port, settings }: ListenPlace): Promise<Error> {
  const code = codeOf(cause)
  if (code === 'EADDRNOTAVAIL')
    return new Error(`${host} is no address of this machine; set ${settings.host} to one that is`, { cause })
  if (code === 'EACCES')
    return new Error(`port ${port} is for root only; set ${settings.port} to one from 1024`, { cause })
  if (code !== 'EADDRINUSE') return cause instanceof Error ? cause : new Error(String(cause), { cause })
  const holder = await describeHolder(host, port)
  return new Error(`port ${port} is taken${holder}; set ${settings.port} to another one`, { cause })
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', (cause) => resolve(codeOf(cause) === 'EADDRINUSE'))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)))
  return await promise
}

/** A phrase to append to the message; '' if the kernel does not tell. */
async function describeHolder(host: string, port: number): Promise<string> {
  const [listener] = await readListeners({ host, port }).catch(() => [])
  if (listener === undefined) return ''
  const pid = await findProcessWith(listener.inode)
  return pid === undefined ? ` by a process of user ${listener.uid}` : ` by process ${pid}`
}

/** The process that has a socket, among those whose files this user may see. */
async function findProcessWith(inode: number): Promise<number | undefined> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) if (await hasSocket(pid, inode)) return Number(pid)
  return undefined
}

async function hasSocket(pid: string, inode: number): Promise<boolean> {
  // Not ours to look at, or gone meanwhile.
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
  return links.includes(`socket:[${inode}]`)
}
