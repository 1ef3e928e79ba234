import { expect, test } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import { judgeHello, MOST_BYTES } from './judge-hello.ts'

/** A first message with so many bytes behind its header. */
function messageOf(length: number): Buffer {
  const message = Buffer.alloc(4 + length, 7)
  message.writeUInt32BE(length, 0)
  message[0] = 1
  return message
}

/** In records that end at these places of the message. */
function inRecords(message: Buffer, ends: readonly number[]): Buffer {
  const places = [0, ...[...new Set(ends)].filter((end) => end < message.length).toSorted((a, b) => a - b)]
  return Buffer.concat(
    places.map((from, n) => {
      const body = message.subarray(from, places[n + 1])
      const head = Buffer.from([22, 3, 1, 0, 0])
      head.writeUInt16BE(body.length, 3)
      return Buffer.concat([head, body])
    }),
  )
}

const hellos = fc
  .tuple(fc.integer({ min: 1, max: 6_000 }), fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 10 }))
  .map(([length, ends]) => inRecords(messageOf(length), ends))

test('a first message is whole with its last byte, and no byte before, however it is spread over records', () => {
  fc.assert(
    fc.property(hellos, fc.nat(), (hello, place) => {
      expect(judgeHello(hello)).toBe('whole')
      expect(judgeHello(Buffer.concat([hello, Buffer.from([23, 3, 3, 0, 1, 0])]))).toBe('whole')
      expect(judgeHello(hello.subarray(0, place % hello.length))).toBe('part')
    }),
  )
})

test('a message that says that it is longer than any client sends is refused with its header', () => {
  const long = inRecords(messageOf(65_000), [100, 16_000, 32_000, 48_000, 64_000])
  expect(judgeHello(long.subarray(0, 8))).toBe('part')
  expect(judgeHello(long.subarray(0, 9))).toBe('long')
  expect(judgeHello(inRecords(messageOf(200), []).subarray(0, 9))).toBe('part')
})

test('a record that is longer is refused, too, and a message in very many records', () => {
  expect(judgeHello(Buffer.from([22, 3, 1, (MOST_BYTES >> 8) & 255, 0]))).toBe('long')
  expect(
    judgeHello(
      inRecords(
        messageOf(100),
        Array.from({ length: 40 }, (_, n) => n + 1),
      ),
    ),
  ).toBe('long')
})

test('what TLS would skip before a handshake is foreign, at the beginning and between records; other bytes are plain', () => {
  const warning = Buffer.from([21, 3, 1, 0, 2, 1, 90])
  const hello = inRecords(messageOf(300), [100])
  expect(judgeHello(Buffer.concat([warning, hello]))).toBe('foreign')
  expect(judgeHello(Buffer.concat([hello.subarray(0, 105), warning]))).toBe('foreign')
  for (const type of [20, 23, 24, 0x80]) expect(judgeHello(Buffer.from([type, 3, 1]))).toBe('foreign')
  for (const text of ['*1\r\n', 'GET / HTTP/1.1\r\n'])
    expect(judgeHello(Buffer.from(text, 'latin1'))).toBe('plain')
  expect(judgeHello(Buffer.alloc(0))).toBe('part')
})
