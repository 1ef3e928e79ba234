import { readdir, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, readListeners } from '@fairlead/engine'

/** A stopping server keeps its port for its last requests. */
const FREE_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 50
/** Interval of attempts while another program has the port. */
const TRY_AGAIN_MS = 1_000

/** An address, and the settings that change it. */
export interface ListenPlace {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The variables of address and port, for messages. */
  readonly settings: { readonly host: string; readonly port: string }
}

/** For a server that manages databases while it waits. */
export interface PortRetry {
  /** Called once. `why` names the process with the port. */
  readonly onTaken: (why: string) => void
  /** Aborts the wait with an error. */
  readonly stop: AbortSignal
}

interface Waiting {
  readonly withinMs?: number
  readonly patience?: PortRetry | undefined
}

/**
 * Listens at a port, and returns the result of `listen`. Waits for a taken port, where our former process may
 * be ending: up to `withinMs`, or without limit with `patience`. Throws an error with the process that has
 * the port, or the setting of an address that this machine lacks.
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

/** Explains which setting to change. */
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

/** A phrase for the message; '' if the kernel does not report it. */
async function describeHolder(host: string, port: number): Promise<string> {
  const [listener] = await readListeners({ host, port }).catch(() => [])
  if (listener === undefined) return ''
  const pid = await findProcessWith(listener.inode)
  return pid === undefined ? ` by a process of user ${listener.uid}` : ` by process ${pid}`
}

/** The process of a socket, if this user may see its files. */
async function findProcessWith(inode: number): Promise<number | undefined> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) if (await hasSocket(pid, inode)) return Number(pid)
  return undefined
}

async function hasSocket(pid: string, inode: number): Promise<boolean> {
  // Another user's process, or already gone.
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
  return links.includes(`socket:[${inode}]`)
}
