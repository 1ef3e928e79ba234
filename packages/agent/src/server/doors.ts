import { lstatSync } from 'node:fs'
import { lchown, link, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf, createTurns } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { EngineWall } from '../engine/engine-wall.ts'
import { proxyFolder } from '../proxy/proxy-folder.ts'
import { isMovedIn, openServerFolder, serverFolder } from './server-folder.ts'

/** What the agent opens to a server that is a user of its own: its socket and that of the proxy, and no others. */
export interface Doors {
  /** Looks whether each door leads to the socket that is there now. Never throws. */
  keep(): Promise<void>
}

/**
 * The doors of a home are further names (hard links) of sockets that root or the proxy has made, in a folder where only root may write:
 * they belong to the server's user, who can reach no other name of theirs. Where root has not started us, there is no such user, and
 * nothing happens.
 */
export async function openDoors(home: string, agentSocket: string, logger: Logger): Promise<Doors> {
  if (process.geteuid?.() !== 0) return { keep: () => Promise.resolve() }
  const folder = serverFolder(home)
  const uid = await openServerFolder(folder)
  const proxy = proxyFolder(home)
  let told = false
  // The agent and its look at the proxy ask side by side: each draft has one name.
  const inTurn = createTurns()
  const open = async (socket: string, name: string) => {
    const door = join(folder.doors, name)
    const found = lstatSync(socket, { throwIfNoEntry: false })
    if (!found?.isSocket() || lstatSync(door, { throwIfNoEntry: false })?.ino === found.ino) return
    const draft = `${door}.draft`
    await rm(draft, { force: true })
    await link(socket, draft)
    // A proxy may have put something else in its place meanwhile.
    if (!lstatSync(draft).isSocket()) return await rm(draft)
    await lchown(draft, uid, 0)
    await rename(draft, door)
  }
  const openBoth = async () => {
    try {
      await open(agentSocket, 'agent.sock')
      const own = join(proxy.own, basename(proxy.socket))
      await open(isLink(proxy.socket) ? own : proxy.socket, 'proxy.sock')
      told = false
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return // it is gone: there will be another
      if (!told)
        logger.warn(
          { err: cause },
          'the server cannot be given access to the sockets of the agent and the proxy',
        )
      told = true
    }
  }
  return { keep: () => inTurn(openBoth) }
}

/**
 * Where the server is a user of its own and there are no walls any more, nothing that the server asks for becomes a program of root:
 * neither its modules nor an engine, which writes files where its administrator says. What ran so before comes back. The server has to
 * be started again first: then it is root, too, and has taken its things along.
 */
export function withoutRootOf(wall: EngineWall, home: string): EngineWall {
  if (wall.missing === null || process.geteuid?.() !== 0) return wall
  return {
    ...wall,
    async command(place, start) {
      if (!start.ranOutside && (await isMovedIn(serverFolder(home))))
        throw new Error(
          'without a wall it would be root, and the server, which asks for it, is not: start the server again',
        )
      return await wall.command(place, start)
    },
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}
