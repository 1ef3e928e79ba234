export const SLOTS = 16_384

/** The slot of a key in the engines' cluster: CRC16 of the text in its first `{…}`, or of the whole key. */
export function hashSlot(key: string): number {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  // `{}` is no tag: then the whole key counts.
  const counted = close > open + 1 ? key.slice(open + 1, close) : key
  return crc16(counted) % SLOTS
}

/** XMODEM, over latin1 text like everything that the ledger writes. */
function crc16(text: string): number {
  let crc = 0
  for (let at = 0; at < text.length; at += 1)
    crc = ((crc << 8) ^ (table[((crc >> 8) ^ text.charCodeAt(at)) & 0xff] ?? 0)) & 0xffff
  return crc
}

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc
})
