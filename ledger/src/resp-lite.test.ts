import { expect, test } from 'vitest'
import { fc } from '../../proof/properties.ts'
import { createReplyReader, ProtocolError, type Reply, writeCommand } from './resp-lite.ts'

const line = fc.stringMatching(/^[ -~]{0,20}$/)
const bulk = fc.record({
  kind: fc.constant('bulk' as const),
  text: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'))),
})
const simple: fc.Arbitrary<Reply> = fc.oneof(
  fc.constant<Reply>({ kind: 'status', text: 'OK' }),
  fc.record({ kind: fc.constant('status' as const), text: line }),
  fc.record({ kind: fc.constant('error' as const), text: line }),
  fc.record({ kind: fc.constant('integer' as const), value: fc.maxSafeInteger().map((n) => n + 0) }),
  bulk,
)
const reply: fc.Arbitrary<Reply> = fc.oneof(
  simple,
  fc.record({ kind: fc.constant('array' as const), items: fc.option(fc.array(simple, { maxLength: 6 })) }),
)

test('replies are read whole, wherever the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(reply, { maxLength: 6 }),
      fc.array(fc.nat({ max: 30 }), { minLength: 1 }),
      (sent, sizes) => {
        expect(readAll(cut(encodeAll(sent), sizes))).toEqual(sent)
      },
    ),
  )
})

test('one byte at a time is enough', () => {
  const sent: readonly Reply[] = [
    { kind: 'status', text: 'OK' },
    { kind: 'integer', value: -12 },
    { kind: 'error', text: 'READONLY You can not write against a read only replica.' },
    {
      kind: 'array',
      items: [
        { kind: 'bulk', text: 'a\r\nb' },
        { kind: 'bulk', text: null },
      ],
    },
    { kind: 'status', text: 'OK' },
  ]
  expect(readAll(cut(encodeAll(sent), [1]))).toEqual(sent)
  expect(readAll([encodeAll(sent)])).toEqual(sent)
})

test('a chunk may be overwritten after it was fed', () => {
  const replies: Reply[] = []
  const reader = createReplyReader((one) => replies.push(one))
  const shared = Buffer.alloc(8)
  for (const part of ['$5\r\nab', 'cde\r', '\n'])
    reader.feed(shared.subarray(0, shared.write(part, 0, 'latin1')))
  expect(replies).toEqual([{ kind: 'bulk', text: 'abcde' }])
})

test.each(['hello\r\n', ':1x\r\n', '$3\r\nabcde', '$-2\r\n', '*x\r\n'])(
  '%j is no RESP and is refused',
  (text) => {
    expect(() => readAll([Buffer.from(text)])).toThrow(ProtocolError)
  },
)

test('a command is written as an array of bulk strings', () => {
  expect(writeCommand('SET', 'key', '')).toBe('*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n')
})

function readAll(chunks: readonly Buffer[]): readonly Reply[] {
  const replies: Reply[] = []
  const reader = createReplyReader((one) => replies.push(one))
  for (const chunk of chunks) reader.feed(chunk)
  return replies
}

/** Cuts into pieces of these sizes, repeatedly; a size of 0 is an empty read. */
function cut(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = []
  let at = 0
  for (let n = 0; at < bytes.length; n += 1) {
    const size =
      (sizes[n % sizes.length] ?? 0) + (n % sizes.length === 0 && sizes.every((s) => s === 0) ? 1 : 0)
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

function encodeAll(replies: readonly Reply[]): Buffer {
  return Buffer.from(replies.map(encode).join(''), 'latin1')
}

function encode(one: Reply): string {
  switch (one.kind) {
    case 'status':
      return `+${one.text}\r\n`
    case 'error':
      return `-${one.text}\r\n`
    case 'integer':
      return `:${one.value}\r\n`
    case 'bulk':
      return one.text === null ? '$-1\r\n' : `$${one.text.length}\r\n${one.text}\r\n`
    case 'array':
      return one.items === null ? '*-1\r\n' : `*${one.items.length}\r\n${one.items.map(encode).join('')}`
  }
}
