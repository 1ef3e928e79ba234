import { type Operation, operations } from '@fairlead/api'
import { createChance } from '../../../proof/create-chance.ts'

/** One input: bytes, and whether they are incomplete (then the sender closes its side). */
export interface HostileInput {
  readonly kind: string
  readonly bytes: Buffer
  readonly breaksOff: boolean
}

const all: readonly Operation[] = Object.values(operations)
/** Requests that would end the session of the others, or all sessions; they are sent without a token. */
const ending = /^\/v1\/(users\/(logout|password|:uid)|cluster(\/policy)?|roles\/:uid)$/

/** `count` inputs of every kind, each with one of these headers, or with none. */
export function hostileInputs(
  seed: number,
  count: number,
  tokens: readonly string[],
): readonly HostileInput[] {
  const chance = createChance(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T
  const text = (most: number) =>
    Array.from({ length: Math.floor(chance() * most) }, () => String.fromCodePoint(pick(codes)())).join('')
  const codes = [
    () => Math.floor(chance() * 128),
    () => 32 + Math.floor(chance() * 95),
    () => pick([0x202e, 0x200b, 0x1f4a5, 0xfffd, 0x430, 0x0, 0x2028, 0xfeff, 0x7f, 0xa0]),
  ]
  const odd = (): unknown =>
    pick<() => unknown>([
      () => text(60),
      () => pick([0, -1, 1e308, 0.1, 2 ** 53, -0, 1e-7, Number.MAX_SAFE_INTEGER]),
      () => pick([null, true, false, [], {}, [[]], [null], { a: { a: { a: 1 } } }]),
      () => pick(oddTexts),
      () => Array.from({ length: 3 }, odd),
      () => ({ [text(5)]: odd(), [pick(oddTexts)]: 1 }),
      () => 'x'.repeat(Math.floor(chance() * 3_000)),
    ])()
  const bodyOf = ({ body }: Operation) => {
    const fields = Object.keys((body as { properties?: object } | undefined)?.properties ?? {})
    const names = [...fields, 'extra', '__proto__', 'constructor', text(4)]
    const entries = Array.from({ length: Math.floor(chance() * 5) }, () => [pick(names), odd()])
    return pick([
      JSON.stringify(Object.fromEntries(entries)),
      JSON.stringify(Object.fromEntries(entries)).replace('{', '{"__proto__":{"x":1},'),
      JSON.stringify(odd()),
      text(200),
      `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
    ])
  }
  const pathOf = ({ path }: Operation) => path.replace(/:\w+/g, () => pick(uids))
  const request = (
    { method, path }: { readonly method: string; readonly path: string },
    headers: readonly string[],
    body = '',
  ) => {
    const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
    const lines = ['Host: localhost', ...length, ...headers, 'Connection: close']
    return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  }
  const auth = (path: string) => {
    const token = ending.test(path) ? '' : pick([...tokens, ''])
    return token === '' ? [] : [`Authorization: ${token}`]
  }
  const json = 'Content-Type: application/json'
  const printable = (most: number) => text(most).replace(/[^\x20-\x7e]/g, '?')

  const kinds: Readonly<Record<string, () => Buffer | { readonly cut: Buffer }>> = {
    body: () => {
      const op = pick(all)
      return request({ method: op.method, path: pathOf(op) }, [json, ...auth(op.path)], bodyOf(op))
    },
    path: () => {
      const op = pick(all)
      const path = pick([
        () => pathOf(op).replace(/\//g, () => pick(['/', '//', '/./', '/%2e%2e/', '\\', '/%00'])),
        () => `/${printable(80).replace(/\s/g, '+')}`,
        () => `${pathOf(op)}${pick(['/', '/x', '%', '%zz', '#x', ';a=b', '?', '??', '/..', '%0d%0aX:1'])}`,
        () => `${pathOf(op)}?${encodeURIComponent(text(20))}=${encodeURIComponent(text(20))}`,
        () => `${pathOf(op)}?${pick(queries)}`,
        () => `/v1/${'a/'.repeat(Math.floor(chance() * 400))}`,
      ])()
      return request({ method: op.method, path }, [json, ...auth(op.path)])
    },
    method: () => {
      const op = pick(all)
      return request({ method: pick(methods), path: pathOf(op) }, auth(op.path))
    },
    authorization: () => {
      const op = pick(all.filter(({ permission }) => permission !== null))
      const token = pick(tokens)
      const at = 8 + Math.floor(chance() * (token.length - 9))
      const value = pick([
        () => printable(200),
        () => `${pick(['Bearer', 'JWT', 'Basic', 'bearer', 'Digest'])} ${printable(120)}`,
        () => `Basic ${Buffer.from(text(60)).toString('base64')}`,
        () => `${token.slice(0, at)}${pick(['A', 'z', '.', '=', '-'])}${token.slice(at + 1)}x`,
        () => `Bearer ${token.slice(7)} ${token.slice(7)}`,
        () => `Bearer ${'x'.repeat(Math.floor(chance() * 12_000))}`,
      ])()
      return request({ method: op.method, path: pathOf(op) }, [`Authorization: ${value}`])
    },
    header: () => {
      const op = pick(all)
      const line = pick(headers)(printable(60))
      return request(
        { method: op.method, path: pathOf(op) },
        [line, ...auth(op.path)],
        pick(['', '{}', 'a=b']),
      )
    },
    framing: () => {
      const target = `${pick(['POST', 'PUT', 'GET'])} ${pathOf(pick(all))} HTTP/1.1\r\nHost: localhost\r\n`
      return { cut: Buffer.from(`${target}${pick(framings)}`) }
    },
    noise: () => ({
      cut: Buffer.from(Array.from({ length: 1 + Math.floor(chance() * 400) }, () => chance() * 256)),
    }),
  }
  return Array.from({ length: count }, () => {
    const kind = pick(Object.keys(kinds))
    const made = kinds[kind]?.() ?? Buffer.alloc(0)
    return 'cut' in made
      ? { kind, bytes: made.cut, breaksOff: true }
      : { kind, bytes: made, breaksOff: false }
  })
}

const oddTexts = [
  ...['', ' ', '\u0000', 'a\u202eb', '💥', '__proto__', 'constructor', "' or 1=1 --", '../../etc/passwd'],
  ...['#{7*7}', '{{7*7}}', '<script>', '%s%n', 'NaN', '-0', '1e999', '\ud800', 'null', 'a\r\nX: b'],
]
const uids = [
  '1',
  '3',
  '0',
  '-1',
  '01',
  '0x1',
  '1e1',
  '999999999999999999999',
  'NaN',
  '%31',
  '1e999',
  'a%00b',
  'a',
  '..',
  '1.0',
]
const queries = [
  'limit=-1',
  'limit[]=1',
  'a=b&a=c',
  'offset=1e9',
  'offset=1e999',
  'limit=1e999',
  'status=x&status=y',
  'last_event_id=x',
  '=',
]
const methods = ['TRACE', 'OPTIONS', 'HEAD', 'PATCH', 'CONNECT', 'PROPFIND', 'SEARCH', 'get', 'FOO', 'DELETE']
const headers: readonly ((text: string) => string)[] = [
  (text) => `Content-Type: ${text}`,
  () => 'Content-Type: application/json; charset=utf-7',
  () => 'Content-Type: multipart/form-data; boundary=',
  () => 'Content-Type: multipart/form-data; boundary=x',
  (text) => `Prefer: ${text}`,
  (text) => `Last-Event-ID: ${text}`,
  (text) => `Accept: ${text}`,
  () => 'Expect: 100-continue',
  () => 'Expect: x',
  () => 'Upgrade: h2c',
  (text) => `X-Forwarded-For: ${text}`,
  () => 'X-HTTP-Method-Override: DELETE',
  () => 'Content-Encoding: gzip',
  () => 'Host: evil.example',
  (text) => `Host: ${text}`,
  () => `Cookie: ${'a=b; '.repeat(500)}`,
  () => Array.from({ length: 150 }, (_, n) => `X-${n}: 1`).join('\r\n'),
  () => 'Origin: http://evil.example',
]
const framings = [
  'Content-Length: 10\r\n\r\n{}',
  'Content-Length: -1\r\n\r\n',
  'Content-Length: 1e1\r\n\r\n{}',
  'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
  'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
  'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}',
  'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}',
  ' folded: x\r\n\r\n',
  'X: \u0001\r\n\r\n',
  `X: ${'x'.repeat(20_000)}\r\n\r\n`,
  'No-End: 1',
  '\r\nGET /v1/users HTTP/1.1\r\nHost: localhost\r\nX: a b\u0000\r\n\r\n',
]
