/** A value in an answer. A string is sent as a bulk string. */
export type Reply =
  | string
  | number
  | null
  | readonly Reply[]
  | { readonly status: string }
  | { readonly error: string }
  /** Null array. */
  | { readonly missing: 'array' }
  /** Verbatim text. */
  | { readonly verbatim: string }
  | { readonly fields: readonly (readonly [string, Reply])[] }
  /** Push message to subscribers. */
  | { readonly push: readonly Reply[] }

/** Version of RESP that a client has chosen with HELLO. */
export type Protocol = 2 | 3

/** Encodes a reply. Types missing in RESP2 are encoded as by engines: maps become flat arrays. */
export function encodeReply(reply: Reply, protocol: Protocol): string {
  if (typeof reply === 'string') return bulk('$', reply)
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (reply === null) return protocol === 3 ? '_\r\n' : '$-1\r\n'
  if (isList(reply)) return list('*', reply, protocol)
  if ('status' in reply) return `+${reply.status}\r\n`
  if ('error' in reply) return `-${reply.error}\r\n`
  if ('missing' in reply) return protocol === 3 ? '_\r\n' : '*-1\r\n'
  if ('verbatim' in reply)
    return protocol === 3 ? bulk('=', `txt:${reply.verbatim}`) : bulk('$', reply.verbatim)
  if ('push' in reply) return list(protocol === 3 ? '>' : '*', reply.push, protocol)
  const parts = reply.fields.flat()
  return protocol === 3 ? `%${reply.fields.length}\r\n${join(parts, protocol)}` : list('*', parts, protocol)
}

function isList(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply)
}

function list(type: '*' | '>', parts: readonly Reply[], protocol: Protocol): string {
  return `${type}${parts.length}\r\n${join(parts, protocol)}`
}

function join(parts: readonly Reply[], protocol: Protocol): string {
  return parts.map((part) => encodeReply(part, protocol)).join('')
}

function bulk(type: '$' | '=', text: string): string {
  return `${type}${Buffer.byteLength(text)}\r\n${text}\r\n`
}
