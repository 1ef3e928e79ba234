import { encodeCommand } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { noteOwn } from './noted.ts'

/** Sends a command without effect. Its answer proves that everything before it was executed. */
export function probe(connection: Connection, link: Link): void {
  const {
    session: { ahead },
  } = connection
  const words =
    ahead.silent || ahead.skipsNext || link.unproven ? ['CLIENT', 'REPLY', 'ON'] : ['PING', 'fairlead']
  sendOwn(link, encodeCommand(words), 1, false)
}

/** Sends a command of the proxy. Its `replies` replies are not passed on. */
export function sendOwn(link: Link, bytes: Buffer, replies: number, must: boolean): void {
  for (let n = 0; n < replies; n += 1) noteOwn(link, must)
  link.socket.write(bytes)
}

/** Restores the client's CLIENT REPLY setting after a probe switched replies on. */
export function restoreReplyOff({ session: { ahead } }: Connection, link: Link): void {
  if (ahead.silent) link.socket.write(encodeCommand(['CLIENT', 'REPLY', 'OFF']))
  else if (ahead.skipsNext) link.socket.write(encodeCommand(['CLIENT', 'REPLY', 'SKIP']))
}
