import type { FormFile, Pieces } from './operation.ts'

/** Is in no file: the receiver would take it for the file's end. Long enough to happen by nobody's will. */
const BOUNDARY = `fairlead-${crypto.randomUUID()}`

/** The Content-Type of what `formWith` makes. */
export const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** A form with one file and nothing else. */
export async function* formWith({ field, mediaType }: FormFile, file: Pieces): Pieces {
  yield text(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${field}"\r\nContent-Type: ${mediaType}\r\n\r\n`,
  )
  yield* file
  yield text(`\r\n--${BOUNDARY}--\r\n`)
}

const text = (line: string) => new TextEncoder().encode(line)
