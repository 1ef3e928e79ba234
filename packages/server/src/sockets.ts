import { join } from 'node:path'

/** The agent's socket. Unix sockets have short names: 107 bytes on Linux. */
export function agentSocket(home: string): string {
  return join(home, 'run', 'agent.sock')
}

/** The proxy's socket: see its program. */
export function proxySocket(home: string): string {
  return join(home, 'proxy', 'proxy.sock')
}

/** The server's socket for whoever has the machine. */
export function operatorSocket(home: string): string {
  return join(home, 'run', 'server.sock')
}
