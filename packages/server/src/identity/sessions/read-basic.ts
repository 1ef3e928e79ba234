import { isUtf8 } from 'node:buffer'
import type { Login } from './logins.ts'

/** The name and the password in a header `Authorization: Basic …`; undefined where it is none. */
export function readBasicHeader(header: string | undefined): Login | undefined {
  const { scheme, rest } = splitScheme(header ?? '')
  return scheme === 'basic' ? readBasic(rest) : undefined
}

/** `Scheme rest`, the scheme in small letters. By hand: it is done for every request, on hundreds of characters. */
export function splitScheme(header: string): { readonly scheme: string; readonly rest: string } {
  const end = header.indexOf(' ')
  if (end === -1) return { scheme: '', rest: '' }
  return { scheme: header.slice(0, end).toLowerCase(), rest: header.slice(end).trim() }
}

/** RFC 7617. Undefined when it is none: also with the character NUL, which no name or password has, and PostgreSQL has no place for. */
export function readBasic(text: string): Login | undefined {
  const [, name, password] = /^([^:\0]+):([^\0]+)$/.exec(decode(Buffer.from(text, 'base64'))) ?? []
  if (name === undefined || password === undefined) return undefined
  return name.length <= 256 && password.length <= 256 ? { name, password } : undefined
}

/** UTF-8, as the challenge asks for; else Latin-1, which some libraries send whatever is asked (Python's requests). */
function decode(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}
