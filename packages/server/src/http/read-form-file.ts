import { type FormFile, type Pieces, Refusal } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { FastifyRequest } from 'fastify'

/** A form has one file; additional parts are only read to refuse them. */
const limits = { files: 2, fields: 2, parts: 3, fieldSize: 1_000, fileSize: Number.MAX_SAFE_INTEGER }

/**
 * Yields a form's file as it arrives. Throws Refusal if it is missing, other fields exist, or the form breaks
 * off.
 */
export async function* readFormFile(request: FastifyRequest, { field, missing }: FormFile): Pieces {
  if (!request.isMultipart()) {
    throw new Refusal(missing, `send a form (multipart/form-data) with the file in the field ${field}`)
  }
  let isFound = false
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type !== 'file' || part.fieldname !== field) throw stray(part, { field, missing })
      if (isFound) throw new Refusal('invalid_request', `${field}: the form has more than one file`)
      isFound = true
      yield* part.file
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause
    const reason = messageOf(cause)
    throw new Refusal('invalid_request', `the form breaks off or is malformed: ${reason}`, { cause })
  } finally {
    // After an early answer, the rest is read and dropped, or the client would not see the answer.
    request.raw.unpipe()
    request.raw.resume()
  }
  if (!isFound) throw new Refusal(missing, `the form has no file in the field ${field}`)
}

function stray(
  { type, fieldname }: { readonly type: string; readonly fieldname: string },
  { field, missing }: Pick<FormFile, 'field' | 'missing'>,
): Refusal {
  if (fieldname === field)
    return new Refusal(missing, `${field}: must be a file, as curl -F ${field}=@file sends it`)
  const what = type === 'file' ? 'file' : 'field'
  return new Refusal(
    type === 'file' ? missing : 'invalid_request',
    `${fieldname.slice(0, 100)}: is no ${what} of this form; the file belongs in the field ${field}`,
  )
}
