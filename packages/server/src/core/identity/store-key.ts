const KEY_BYTES = 32

/** A key of the store from its text: 32 bytes in base64. Undefined when `text` is something else. */
export function parseStoreKey(text: string): Uint8Array | undefined {
  const key = Buffer.from(text.trim(), 'base64')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim()) && key.length === KEY_BYTES ? key : undefined
}
