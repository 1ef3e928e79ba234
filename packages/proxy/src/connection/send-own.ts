import { encodeCommand } from '@fairlead/engine'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { noteOwn } from './noted.ts'

/** Sends a command of the proxy's own that has no effect: its answer proves that everything before was carried out. */
export function probe(connection: Connection, link: Link): void {
  const { ahead } = connection
  const words =
    ahead.silent || ahead.skipsNext || link.unproven ? ['CLIENT', 'REPLY', 'ON'] : ['PING', 'fairlead']
  sendOwn(link, encodeCommand(words), 1, false)
}

/** Sends a command of the proxy's own; its `replies` replies are not passed on. */
export function sendOwn(link: Link, bytes: Buffer, replies: number, must: boolean): void {
  for (let n = 0; n < replies; n += 1) noteOwn(link, must)
  link.socket.write(bytes)
}

/** CLIENT REPLY was switched on for a probe: sets it again as the client had it. */
export function restoreSilence({ ahead }: Connection, link: Link): void {
  if (ahead.silent) link.socket.write(encodeCommand(['CLIENT', 'REPLY', 'OFF']))
  else if (ahead.skipsNext) link.socket.write(encodeCommand(['CLIENT', 'REPLY', 'SKIP']))
}
