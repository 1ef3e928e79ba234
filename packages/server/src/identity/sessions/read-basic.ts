import { isUtf8 } from 'node:buffer'
import type { Login } from './logins.ts'

/** Returns the name and password of a header `Authorization: Basic …`; undefined for other headers. */
export function readBasicHeader(header: string | undefined): Login | undefined {
  const { scheme, rest } = splitScheme(header ?? '')
  return scheme === 'basic' ? readBasic(rest) : undefined
}

/** Splits `Scheme rest`, with the scheme in lower case. It runs for each request, so it must be fast. */
export function splitScheme(header: string): { readonly scheme: string; readonly rest: string } {
  const end = header.indexOf(' ')
  if (end === -1) return { scheme: '', rest: '' }
  return { scheme: header.slice(0, end).toLowerCase(), rest: header.slice(end).trim() }
}

/** Reads RFC 7617; undefined for other text, and for NUL, which no name has and PostgreSQL cannot store. */
export function readBasic(text: string): Login | undefined {
  const [, name, password] = /^([^:\0]+):([^\0]+)$/.exec(decode(Buffer.from(text, 'base64'))) ?? []
  if (name === undefined || password === undefined) return undefined
  return name.length <= 256 && password.length <= 256 ? { name, password } : undefined
}

/** Reads UTF-8, as the challenge asks; else Latin-1, which some libraries always send (Python's requests). */
function decode(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}
