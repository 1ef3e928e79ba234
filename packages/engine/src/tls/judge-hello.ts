/**
 * State of a client's first bytes. `part`: more of the first message must come; `whole`: it is complete;
 * `long`: more than any client sends. `foreign`: they begin with no handshake, but TLS would continue to
 * read; `plain`: TLS fails immediately.
 */
export type Hello = 'part' | 'whole' | 'long' | 'foreign' | 'plain'

/**
 * A client's first message has at most 2 KB, even with keys against quantum computers. TLS looks up each of
 * its keys among the groups: a message of 65 KB takes 31 ms of processor time at a stretch, one of 8 KB 1 ms
 * (OpenSSL 3.0 and 3.5, measured).
 */
export const MOST_BYTES = 8 * 1024

/** Clients use one or two, and examining each takes time. */
const MOST_RECORDS = 16
const HANDSHAKE = 22
/** Alerts and other types that may precede a handshake: TLS ignores some of them and continues to read. */
const LEAST_TYPE = 20
const MOST_TYPE = 24
/** From here on it may be an SSL 2 hello, which OpenSSL still reads. */
const OLDEST = 0x80
const RECORD_HEADER = 5
const MESSAGE_HEADER = 4

/** Judges a client's first bytes by their records (RFC 8446, 5.1 and 4), which may split the message. */
export function judgeHello(said: Buffer): Hello {
  let message = 0
  let length: number | undefined
  let header: Buffer = Buffer.alloc(0)
  for (let at = 0, records = 1; at < said.length; records += 1) {
    const type = said[at] ?? 0
    if (type !== HANDSHAKE) return at === 0 && isPlain(type) ? 'plain' : 'foreign'
    if (said.length - at < RECORD_HEADER) break
    const end = at + RECORD_HEADER + said.readUInt16BE(at + 3)
    const body = said.subarray(at + RECORD_HEADER, end)
    header = Buffer.concat([header, body.subarray(0, MESSAGE_HEADER - header.length)])
    if (header.length === MESSAGE_HEADER) length = MESSAGE_HEADER + header.readUIntBE(1, 3)
    message += body.length
    if (end > MOST_BYTES || (length ?? 0) > MOST_BYTES || records > MOST_RECORDS) return 'long'
    if (end > said.length) break
    if (length !== undefined && message >= length) return 'whole'
    at = end
  }
  return said.length > MOST_BYTES ? 'long' : 'part'
}

function isPlain(first: number): boolean {
  return first < LEAST_TYPE || (first > MOST_TYPE && first < OLDEST)
}
