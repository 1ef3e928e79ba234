import { createCipheriv, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** A client of TLS 1.3 whose handshake has ended, and which has said nothing since. */
export interface RecordClient extends Disposable {
  readonly raw: Socket
  /** So many key updates, which hold nothing and change the keys each time; with `asked`, each asks for one in return. Bytes for `raw`. */
  keyUpdates(count: number, asked?: boolean): Buffer
  /** These bytes, each in a record of its own. */
  tinyRecords(bytes: Buffer): Buffer
}

const CIPHER = 'TLS_AES_128_GCM_SHA256'
const KEY_BYTES = 16
const NONCE_BYTES = 12
const HASH_BYTES = 32
const TAG_BYTES = 16

/** TLS of Node sends no key updates and no record without a byte, so that records are made here (RFC 8446, 5.2, 7.1 and 7.2). */
export async function dialRecords(port: number, ca: string): Promise<RecordClient> {
  const raw = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => undefined)
  await once(raw, 'connect')
  const socket = connectTls({
    socket: raw,
    ca,
    servername: 'localhost',
    ciphers: CIPHER,
    minVersion: 'TLSv1.3',
  })
  let secret: Buffer = Buffer.alloc(0)
  socket
    .on('error', () => undefined)
    .on('keylog', (line: Buffer) => {
      const [label, , hex = ''] = line.toString().trim().split(' ')
      if (label === 'CLIENT_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex')
    })
  await once(socket, 'secureConnect')
  socket.resume()
  return {
    raw,
    ...recordsOf(secret),
    [Symbol.dispose]: () => void raw.destroy(),
  }
}

/** What a client sends, from its first secret on. */
function recordsOf(first: Buffer): Pick<RecordClient, 'keyUpdates' | 'tinyRecords'> {
  let secret = first
  let sent = 0
  const seal = (type: number, text: Buffer): Buffer => {
    const sealed = sealRecord(secret, sent, Buffer.concat([text, Buffer.from([type])]))
    sent += 1
    return sealed
  }
  const update = (asked: boolean): Buffer => {
    const record = seal(22, Buffer.from([24, 0, 0, 1, asked ? 1 : 0]))
    secret = expand(secret, 'traffic upd', HASH_BYTES)
    sent = 0
    return record
  }
  return {
    keyUpdates: (count, asked = false) => Buffer.concat(Array.from({ length: count }, () => update(asked))),
    tinyRecords: (bytes) => Buffer.concat([...bytes].map((byte) => seal(23, Buffer.from([byte])))),
  }
}

function sealRecord(secret: Buffer, nth: number, text: Buffer): Buffer {
  const nonce = expand(secret, 'iv', NONCE_BYTES)
  nonce.writeUInt32BE((nonce.readUInt32BE(NONCE_BYTES - 4) ^ nth) >>> 0, NONCE_BYTES - 4)
  const cipher = createCipheriv('aes-128-gcm', expand(secret, 'key', KEY_BYTES), nonce)
  const header = Buffer.from([23, 3, 3, 0, text.length + TAG_BYTES])
  const sealed = cipher.setAAD(header).update(text)
  cipher.final()
  return Buffer.concat([header, sealed, cipher.getAuthTag()])
}

/** HKDF-Expand-Label, without a context. */
function expand(secret: Buffer, label: string, bytes: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, bytes, name.length]), name, Buffer.from([0, 1])])
  return createHmac('sha256', secret).update(info).digest().subarray(0, bytes)
}
