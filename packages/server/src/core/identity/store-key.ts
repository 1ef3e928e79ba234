const KEY_BYTES = 32

/** Parses a key of the store: 32 bytes in base64. Undefined for any other text. */
export function parseStoreKey(text: string): Uint8Array | undefined {
  const key = Buffer.from(text.trim(), 'base64')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim()) && key.length === KEY_BYTES ? key : undefined
}
