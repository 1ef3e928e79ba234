import { lstatSync } from 'node:fs'
import { lchown, link, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf, createMutex } from '@fairlead/engine'
import type { Logger } from 'pino'
import { proxyFolder } from '../proxy/proxy-folder.ts'
import { openServerFolder, serverFolder } from './server-folder.ts'

/** The only sockets for a server with a separate user: the agent's and the proxy's. */
export interface SharedSockets {
  /** Makes each name lead to the current socket. Never throws. */
  keep(): Promise<void>
}

/**
 * Gives the agent's and the proxy's socket a second name each (a hard link) in a folder where only root may
 * write. They belong to the server's user, which can reach them only by these names. Does nothing unless root
 * has started the agent: then the server has no separate user.
 */
export async function shareSockets(
  home: string,
  agentSocket: string,
  logger: Logger,
): Promise<SharedSockets> {
  if (process.geteuid?.() !== 0) return { keep: () => Promise.resolve() }
  const folder = serverFolder(home)
  const uid = await openServerFolder(folder)
  const proxy = proxyFolder(home)
  let told = false
  // In turn, because the agent and the supervision of the proxy call it at the same time, with one draft
  // name.
  const runExclusive = createMutex()
  const share = async (socket: string, name: string) => {
    const shared = join(folder.sockets, name)
    const found = lstatSync(socket, { throwIfNoEntry: false })
    if (!found?.isSocket() || lstatSync(shared, { throwIfNoEntry: false })?.ino === found.ino) return
    const draft = `${shared}.draft`
    await rm(draft, { force: true })
    await link(socket, draft)
    // A proxy may have replaced the socket in the meantime.
    if (!lstatSync(draft).isSocket()) return await rm(draft)
    await lchown(draft, uid, 0)
    await rename(draft, shared)
  }
  const shareBoth = async () => {
    try {
      await share(agentSocket, 'agent.sock')
      const own = join(proxy.own, basename(proxy.socket))
      await share(isLink(proxy.socket) ? own : proxy.socket, 'proxy.sock')
      told = false
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return // its process has ended: the next one makes another
      if (!told)
        logger.warn(
          { err: cause },
          'the server cannot be given access to the sockets of the agent and the proxy',
        )
      told = true
    }
  }
  return { keep: () => runExclusive(shareBoth) }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}
