/** What stands in a log in place of a secret. */
export const HIDDEN = '[secret]'

/** Fields that hold a secret, whatever is in them. */
const SECRET_FIELD = /passw|secret|token$|authorization|cookie|private|credential|^pass$|^key$|storekey/i
/** Texts that are secrets, whatever their field is called: private keys, tokens, hashes of passwords, passwords in an address. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, HIDDEN],
  [/\$(?:argon2\w*|scrypt|pbkdf2[\w-]*)\$[^\s"']+/g, HIDDEN],
  [/\b(Bearer|JWT|Basic) [\w+/=.~-]{8,}/gi, `$1 ${HIDDEN}`],
  // JSON within a text: of a field with such a name, and the private part of a JWK.
  [/("\w*(?:passw|secret|token|credential)\w*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, `$1"${HIDDEN}"`],
  [/("(?:d|k)"\s*:\s*)"[\w-]{20,}"/g, `$1"${HIDDEN}"`],
  // What an engine, or PostgreSQL, repeats of a request.
  [/(with args beginning with: )'[^\n]*/g, `$1${HIDDEN}`],
  [/(modifier ')[<>#!][^']*/g, `$1${HIDDEN}`],
  [/(Failing row contains )\([\s\S]*/g, `$1(${HIDDEN})`],
  [/\b([a-z][a-z\d+.-]*:\/\/[^\s/:@"']*):[^\s/@"']+@/gi, `$1:${HIDDEN}@`],
]
/** Deeper there is nothing that a person reads. */
const MOST_DEPTH = 8

/**
 * A copy of what is to be logged, without secrets. They are known by their type first: bytes and keys of Node are never logged, and a text is looked at for what it is; then
 * by the name of their field. Times, numbers and errors stay what they are: of an error its message, its stack and its fields are looked at.
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

/** Absence is no secret, and neither is a yes or a number. */
function isHeld(name: string, value: unknown): boolean {
  return (
    SECRET_FIELD.test(name) && (typeof value === 'string' || (typeof value === 'object' && value !== null))
  )
}

function hideInError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error
  return {
    ...hideInFields(Object.entries(error), depth),
    ...{ type: name, message: hideInText(message), stack: hideInText(stack ?? '') },
    ...(cause !== undefined && { cause: hideSecrets(cause, depth + 1) }),
  }
}

/** Also those that went through JSON, as in a message between processes. */
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
