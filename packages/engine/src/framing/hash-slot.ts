/** Number of slots of a cluster. */
export const SLOTS = 16_384

/** Returns a key's slot in the engines' cluster: CRC16 of its first `{…}`, or of the whole key. */
export function hashSlot(key: Uint8Array): number {
  const open = key.indexOf(OPEN)
  const close = open < 0 ? -1 : key.indexOf(CLOSE, open + 1)
  // `{}` is no tag: then the whole key counts.
  const isTagged = close > open + 1
  const from = isTagged ? open + 1 : 0
  const to = isTagged ? close : key.length
  let crc = 0
  for (let at = from; at < to; at += 1)
    crc = ((crc << 8) ^ (table[((crc >> 8) ^ (key[at] ?? 0)) & 0xff] ?? 0)) & 0xffff
  return crc % SLOTS
}

/** XMODEM. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc
})

const OPEN = 0x7b
const CLOSE = 0x7d
