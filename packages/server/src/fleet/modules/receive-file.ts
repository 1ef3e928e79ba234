import { open } from 'node:fs/promises'
import { type Pieces, Refusal } from '@fairlead/api'

/** Writes a stream to a file, at most `maxMb`. Throws Refusal no_module, invalid_module. */
export async function receiveFile(pieces: Pieces, path: string, maxMb: number): Promise<void> {
  let bytes = 0
  await using file = await open(path, 'wx', 0o600)
  for await (const piece of pieces) {
    bytes += piece.byteLength
    if (bytes > maxMb * MB) {
      throw new Refusal(
        'invalid_module',
        `the package is larger than ${maxMb} MB; module_upload_max_size_mb of PUT /v1/cluster raises that`,
      )
    }
    await file.writeFile(piece)
  }
  if (bytes === 0) throw new Refusal('no_module', 'the file that came is empty')
}

/** Bytes. */
export const MB = 1024 * 1024
