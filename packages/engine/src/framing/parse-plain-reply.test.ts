import { expect, test } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import { type PlainReply, parsePlainReply } from './parse-plain-reply.ts'

const parse = (text: string): PlainReply => parsePlainReply(Buffer.from(text))

/** The line behind the first byte, by the plainest reading; undefined: it does not end, or there is more. */
function lineOf(text: string): string | undefined {
  const end = text.indexOf('\r\n', 1)
  return end >= 0 && end + 2 === text.length ? text.slice(1, end) : undefined
}

const words = fc.string({ unit: fc.constantFrom('0', '1', '9', '-', '+', '\r', '\n', 'a', 'é', ' ') })
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 })

test('a line is read up to its CRLF, and a number is one of its digits, however many', () => {
  const text = fc.tuple(
    fc.constantFrom('+', ':'),
    fc.oneof(words, digits),
    fc.constantFrom('\r\n', '\n', '\r', ''),
  )
  fc.assert(
    fc.property(text, (parts) => {
      const [type, said] = [parts[0], parts.join('')]
      const line = lineOf(said)
      const isNumber = line !== undefined && /^[-+]?\d{1,19}$/.test(line)
      if (line === undefined || (type === ':' && !isNumber)) expect(() => parse(said)).toThrow()
      else expect(parse(said)).toBe(type === ':' ? Number(line) : line)
    }),
    { numRuns: 5_000 },
  )
})

test.each([
  ['*2\r\n$3\r\nget\r\n:2\r\n', ['get', 2]],
  ['*0\r\n', []],
  ['*-1\r\n', null],
  ['$-1\r\n', null],
  ['$0\r\n\r\n', ''],
  [':-9007199254740991\r\n', Number.MIN_SAFE_INTEGER],
])('%j is read as what it says', (text, value) => {
  expect(parse(text)).toEqual(value)
})
