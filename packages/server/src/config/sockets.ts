import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isServerOfRoot, isServerUser } from '@fairlead/engine/lean'

/** The folder named by FAIRLEAD_HOME; undefined: not set. */
export function homeOf(text: string | undefined): string {
  return text?.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(text ?? '.fairlead')
}

/**
 * The server's folder and working directory. With a separate user (agent/src/server/) it is the only part of
 * FAIRLEAD_HOME that the server can write to; otherwise it is FAIRLEAD_HOME.
 */
export function stateFolder(home: string): string {
  return isServerOfRoot() ? ownFolder(home) : home
}

/** The log of agent and `up`, beside stderr. */
export function agentLog(home: string): string {
  return join(home, 'agent.log')
}

/** The server's log, beside stderr: where it is with a separate user, and where otherwise. */
export function serverLogs(home: string): readonly [string, string] {
  return [join(ownFolder(home), 'server.log'), join(home, 'server.log')]
}

/**
 * The agent's socket. A server with a separate user uses a relative path, because paths of Unix sockets are
 * short (107 bytes on Linux). The folder `doors`: see ServerFolder.sockets.
 */
export function agentSocket(home: string): string {
  return isServerOfRoot() ? join('..', 'doors', 'agent.sock') : join(home, 'run', 'agent.sock')
}

/** The proxy's socket; see the proxy's program. */
export function proxySocket(home: string): string {
  return isServerOfRoot() ? join('..', 'doors', 'proxy.sock') : join(home, 'proxy', 'proxy.sock')
}

/** The server's socket for the operator. */
export function operatorSocket(home: string): string {
  return isServerOfRoot() ? OPERATOR : join(home, 'run', OPERATOR)
}

/**
 * Finds the operator's socket. A server that gave up root may have replaced it by a link to a socket of root,
 * so the result names the checked socket itself, while this process lives.
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
/** From open(2), missing in Node. Names a file without opening it. */
const O_PATH = 0o10_000_000

function ownFolder(home: string): string {
  return join(home, 'server', 'own')
}
