import type { FormFile, Pieces } from '../contract/operation.ts'

/** Must not occur in a file, which would end there. It is random, and too long to occur by chance. */
const BOUNDARY = `fairlead-${crypto.randomUUID()}`

/** Content-Type of the result of `formWith`. */
export const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** A form with one file only. */
export async function* formWith({ field, mediaType }: FormFile, file: Pieces): Pieces {
  yield text(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${field}"\r\nContent-Type: ${mediaType}\r\n\r\n`,
  )
  yield* file
  yield text(`\r\n--${BOUNDARY}--\r\n`)
}

const text = (line: string) => new TextEncoder().encode(line)
