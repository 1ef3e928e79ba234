import type { Connection } from '../connection/connection.ts'
import type { Link } from '../connection/link.ts'
import { localAddress } from '../listen/address-text.ts'
import type { FoundClient } from '../remembered/peers.ts'

/** Returns the engine's error to CLIENT ID as one to the client's command; undefined if it is no error. */
export function refusalOf(reply: Buffer, kind: 'list' | 'kill'): string | undefined {
  if (reply[0] !== MINUS) return undefined
  return reply.toString('latin1', 1, reply.length - 2).replace("'client|id'", `'client|${kind}'`)
}

/** Returns the reply to CLIENT LIST: a text, which is verbatim in RESP3. */
export function listOf(protocol: 2 | 3, clients: readonly FoundClient[]): Buffer {
  const text = clients.map(({ line }) => line).join('')
  return textReply(text, protocol === 3)
}

function textReply(text: string, isVerbatim: boolean): Buffer {
  const head = isVerbatim ? `=${text.length + VERBATIM.length}\r\n${VERBATIM}` : `$${text.length}\r\n`
  return Buffer.from(`${head}${text}\r\n`, 'latin1')
}

const VERBATIM = 'txt:'

/** The parts of the asking client that `killWith` uses. */
interface Asker {
  readonly owner: Pick<Connection['owner'], 'peers'>
  readonly visitor: Pick<Connection['visitor'], 'id' | 'address'>
  readonly input: Pick<Connection['input'], 'lastError'>
}

/** Ends the clients, the asker after its reply. Returns the reply to CLIENT KILL. */
export function killWith(
  clients: readonly FoundClient[],
  isAddress: boolean,
  { owner, visitor, input }: Asker,
): Buffer {
  const ids = clients.map(({ id }) => id)
  owner.peers.end(
    ids.filter((id) => id !== visitor.id),
    `CLIENT KILL of ${visitor.address}`,
  )
  if (ids.includes(visitor.id)) input.lastError = ''
  if (!isAddress) return Buffer.from(`:${ids.length}\r\n`)
  return Buffer.from(ids.length > 0 ? '+OK\r\n' : '-ERR No such client\r\n')
}

/** Returns the reply to CLIENT ID with the proxy's number. */
export function withOwnNumber({ visitor }: Connection, link: Link, reply: Buffer): Buffer {
  const [, id] = /^:(\d+)\r\n$/.exec(reply.toString('latin1')) ?? []
  if (id === undefined) return reply
  link.engineId = Number(id)
  return Buffer.from(`:${visitor.id}\r\n`)
}

/** Returns the reply to HELLO with the proxy's number. */
export function withOwnId({ visitor }: Connection, link: Link, reply: Buffer): Buffer {
  const text = reply.toString('latin1')
  const told = text.replace(/(\$2\r\nid\r\n:)(\d+)/, (_, head: string, id: string) => {
    link.engineId = Number(id)
    return `${head}${visitor.id}`
  })
  return Buffer.from(told, 'latin1')
}

/** Returns the reply to CLIENT GETREDIR or TRACKINGINFO with the proxy's number of the other client. */
export function withOwnRedirect(_: Connection, { redirect }: Link, reply: Buffer): Buffer {
  if (redirect === 0) return reply
  const text = reply.toString('latin1')
  return Buffer.from(text.replace(/(^|redirect\r\n):[1-9]\d*/, `$1:${redirect}`), 'latin1')
}

/** Returns the reply to CLIENT INFO with number, addresses and times as the client sees them. */
export function infoOf({ visitor, client }: Connection, { redirect }: Link, reply: Buffer): Buffer {
  const [head, sign] = /^([$=])\d+\r\n(txt:)?/.exec(reply.toString('latin1', 0, 32)) ?? []
  if (head === undefined) return reply
  const age = Math.max(0, Math.floor((Date.now() - visitor.sinceMs) / 1_000))
  const text = reply
    .toString('latin1', head.length, reply.length - 2)
    .replace(/^id=\d+ addr=\S*/, `id=${visitor.id} addr=${visitor.address}`)
    .replace(/ laddr=\S*/, ` laddr=${localAddress(client)}`)
    .replace(/ age=\d+/, ` age=${age}`)
    .replace(/ redir=[1-9]\d*/, ` redir=${redirect}`)
  return textReply(text, sign === '=')
}

const MINUS = 0x2d
