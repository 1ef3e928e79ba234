import { readdir, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, readListeners } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'

const HOST = '127.0.0.1'
/** A server that was asked to stop answers its last requests first, and keeps the port meanwhile. */
const FREE_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 50

/**
 * Serves on a port of loopback, and answers with the address. One that is taken is waited for, `withinMs` at most: our own former
 * process may be ending. Throws an error that names the process that has it.
 */
export async function listenOnPort(
  http: Pick<FastifyInstance, 'listen'>,
  port: number,
  withinMs = FREE_WITHIN_MS,
): Promise<string> {
  const deadline = performance.now() + withinMs
  while (port !== 0 && !(await isFree(port)) && performance.now() < deadline) await pause(LOOK_AGAIN_MS)
  try {
    return await http.listen({ host: HOST, port })
  } catch (cause) {
    if (codeOf(cause) !== 'EADDRINUSE') throw cause
    const holder = await describeHolder(port)
    throw new Error(`port ${port} is taken${holder}; set FAIRLEAD_HTTP_PORT to another one`, { cause })
  }
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ host: HOST, port, exclusive: true }, () => server.close(() => resolve(true)))
  return await promise
}

/** A phrase to append to the message; '' if the kernel does not tell. */
async function describeHolder(port: number): Promise<string> {
  const [listener] = await readListeners({ host: HOST, port }).catch(() => [])
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
