import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isServerOfRoot, isServerUser } from '@fairlead/engine/lean'

/** The folder that FAIRLEAD_HOME means; undefined: it is not set. */
export function homeOf(text: string | undefined): string {
  return text?.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(text ?? '.fairlead')
}

/**
 * The folder in which the server of this home keeps its files. A server with a user of its own has a folder of its own, which is also
 * its working directory (agent/src/server/); it can write to no other path of FAIRLEAD_HOME. Otherwise it is FAIRLEAD_HOME.
 */
export function stateFolder(home: string): string {
  return isServerOfRoot() ? ownFolder(home) : home
}

/** The agent's socket. Paths of Unix sockets are short (107 bytes on Linux), so a server with a user of its own uses a relative path. The folder `doors`: see ServerFolder.sockets. */
export function agentSocket(home: string): string {
  return isServerOfRoot() ? join('..', 'doors', 'agent.sock') : join(home, 'run', 'agent.sock')
}

/** The proxy's socket: see its program. */
export function proxySocket(home: string): string {
  return isServerOfRoot() ? join('..', 'doors', 'proxy.sock') : join(home, 'proxy', 'proxy.sock')
}

/** The server's socket for the operator of the machine. */
export function operatorSocket(home: string): string {
  return isServerOfRoot() ? OPERATOR : join(home, 'run', OPERATOR)
}

/**
 * Where the server of this home listens for the operator of the machine. A server that has given root up may have put anything at that
 * path, a link to another socket of root's too: the answer is the very socket that was looked at, for the life of this process.
 */
export function findOperatorSocket(home: string): string {
  const own = join(ownFolder(home), OPERATOR)
  if (isServerOfRoot() || existsSync(operatorSocket(home)) || !existsSync(own)) return operatorSocket(home)
  const file = openSync(own, O_PATH | O_NOFOLLOW)
  const found = fstatSync(file)
  if (found.isSocket() && isServerUser(found.uid)) return `/proc/self/fd/${file}`
  closeSync(file)
  throw new Error(`${own} is not a socket of the server`)
}

const OPERATOR = 'server.sock'
const { O_NOFOLLOW } = constants
/** Of open(2); Node does not name it. The file is named, and not opened. */
const O_PATH = 0o10_000_000

function ownFolder(home: string): string {
  return join(home, 'server', 'own')
}
