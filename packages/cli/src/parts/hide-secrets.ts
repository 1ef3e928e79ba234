/** Replacement of a secret in a log. */
export const HIDDEN = '[secret]'

/** Names of fields with secrets. */
const SECRET_FIELD = /passw|secret|token$|authorization|cookie|private|credential|^pass$|^key$|storekey/i
/** Texts that are secrets under any name: private keys, tokens, password hashes, passwords in addresses. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, HIDDEN],
  [/\$(?:argon2\w*|scrypt|pbkdf2[\w-]*)\$[^\s"']+/g, HIDDEN],
  [/\b(Bearer|JWT|Basic) [\w+/=.~-]{8,}/gi, `$1 ${HIDDEN}`],
  // JSON within a text: fields with such a name, and the private part of a JWK.
  [/("\w*(?:passw|secret|token|credential)\w*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, `$1"${HIDDEN}"`],
  [/("(?:d|k)"\s*:\s*)"[\w-]{20,}"/g, `$1"${HIDDEN}"`],
  // Parts of a request that an engine or PostgreSQL repeats.
  [/(with args beginning with: )'[^\n]*/g, `$1${HIDDEN}`],
  [/(modifier ')[<>#!][^']*/g, `$1${HIDDEN}`],
  [/(Failing row contains )\([\s\S]*/g, `$1(${HIDDEN})`],
  [/\b([a-z][a-z\d+.-]*:\/\/[^\s/:@"']*):[^\s/@"']+@/gi, `$1:${HIDDEN}@`],
]
/** People read nothing deeper. */
const MOST_DEPTH = 8

/**
 * Copies a log value without secrets. Detects them by type first (bytes, keys of Node, patterns in texts),
 * then by field name. Times, numbers and errors keep their form; message, stack and fields of an error are
 * cleaned.
 */
export function hideSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return hideInText(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (isBytes(value) || isKey(value)) return HIDDEN
  if (depth >= MOST_DEPTH) return '[deep]'
  if (Array.isArray(value)) return value.map((each) => hideSecrets(each, depth + 1))
  if (value instanceof Error) return hideInError(value, depth)
  if (value instanceof Map || value instanceof Set) return hideSecrets([...value], depth + 1)
  return hideInFields(Object.entries(value), depth)
}

function hideInFields(fields: Iterable<readonly [string, unknown]>, depth: number): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of fields)
    shown[hideInText(name)] = isHeld(name, value) ? HIDDEN : hideSecrets(value, depth + 1)
  return shown
}

/** Absence, booleans and numbers are no secrets. */
function isHeld(name: string, value: unknown): boolean {
  return (
    SECRET_FIELD.test(name) && (typeof value === 'string' || (typeof value === 'object' && value !== null))
  )
}

function hideInError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error
  return {
    ...hideInFields(Object.entries(error), depth),
    type: name,
    message: hideInText(message),
    stack: hideInText(stack ?? ''),
    ...(cause !== undefined && { cause: hideSecrets(cause, depth + 1) }),
  }
}

/** Also bytes that passed through JSON, like in a message between processes. */
function isBytes(value: object): boolean {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return true
  return 'type' in value && value.type === 'Buffer' && 'data' in value && Array.isArray(value.data)
}

/** A KeyObject, a CryptoKey, or a JWK with its private part. */
function isKey(value: object): boolean {
  if ('kty' in value && ('d' in value || 'k' in value)) return true
  return ['KeyObject', 'SecretKeyObject', 'PrivateKeyObject', 'CryptoKey'].includes(value.constructor?.name)
}

function hideInText(text: string): string {
  return shapes.reduce((shown, [shape, instead]) => shown.replaceAll(shape, instead), text)
}
