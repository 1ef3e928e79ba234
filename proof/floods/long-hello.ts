const RECORD = 16_000
const RECORDS = 4

/**
 * The first message of a client of TLS, of 64 KB, in records of 16 KB. OpenSSL would read it, however long
 * that takes, and say in an alert what is wrong with it.
 */
export function longHello(): Buffer {
  const message = Buffer.alloc(RECORD * RECORDS)
  message.writeUInt32BE(0x01_00_00_00 + message.length - 4)
  const head = Buffer.from([22, 3, 1, RECORD >> 8, RECORD & 255])
  const parts = Array.from({ length: RECORDS }, (_, n) => message.subarray(n * RECORD, (n + 1) * RECORD))
  return Buffer.concat(parts.flatMap((part) => [head, part]))
}
