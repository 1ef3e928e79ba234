/** Encodes a command like a client: as an array of bulk strings. */
export function encodeCommand(words: readonly (string | Uint8Array)[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`*${words.length}\r\n`)]
  for (const word of words) {
    const bytes = typeof word === 'string' ? Buffer.from(word) : word
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, lineEnd)
  }
  return Buffer.concat(parts)
}

const lineEnd = Buffer.from('\r\n')
