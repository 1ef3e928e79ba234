import { describe, expect, test } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import { makeCommandTable } from './command-table.ts'
import { encodeCommand } from './encode-command.ts'
import { createReplyScanner } from './reply-scanner.ts'
import { createRequestScanner } from './request-scanner.ts'
import { isBetweenReplies, RESTS, scanReply } from './scan-replies.ts'
import { isBetweenRequests, scanRequest } from './scan-requests.ts'

const table = makeCommandTable({ AUTH: 2, SUBSCRIBE: 1000, MULTI: 0 })

/** Returns what the scanner finds in `bytes`, which arrive in pieces cut at `cuts`. */
function requestsIn(bytes: Buffer, cuts: readonly number[], keepAll = false) {
  const scanner = createRequestScanner(table)
  scanner.keepAll = keepAll
  const found: unknown[] = []
  for (const { chunk, start } of pieces(bytes, cuts)) {
    let at = 0
    while (at < chunk.length) {
      at = scanRequest(scanner, chunk, at)
      if (at < 0) break
      const { command, words, empty } = scanner
      found.push({ end: start + at, name: command?.name, words: words.map(String), empty })
    }
    if (scanner.error !== undefined) break
  }
  return { found, error: scanner.error, whole: isBetweenRequests(scanner) }
}

function repliesIn(bytes: Buffer, cuts: readonly number[]) {
  const scanner = createReplyScanner()
  scanner.keepWord = true
  const found: unknown[] = []
  for (const { chunk, start } of pieces(bytes, cuts)) {
    let at = 0
    while (at < chunk.length) {
      at = scanReply(scanner, chunk, at)
      if (at < 0) break
      const { type, text, word } = scanner
      found.push({ end: start + at, type: String.fromCharCode(type), text, word })
    }
    if (scanner.error !== undefined) break
  }
  return { found, error: scanner.error, whole: isBetweenReplies(scanner) }
}

function pieces(bytes: Buffer, cuts: readonly number[]) {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
    (a, b) => a - b,
  )
  return at.slice(1).map((end, n) => ({ chunk: bytes.subarray(at[n], end), start: at[n] ?? 0 }))
}

const everyByte = (bytes: Buffer) => Array.from(bytes, (_, n) => n)
const cuts = fc.array(fc.nat(100_000), { maxLength: 30 })
const word = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom('', 'AUTH', 'auth', 'SuBsCribe', '\r\n'),
)
const request = fc.oneof(
  fc.array(word, { minLength: 1, maxLength: 6 }).map(encodeCommand),
  fc
    .constantFrom('PING\r\n', 'auth u "p w"\r\n', '\r\n', '*0\r\n', '*-1\r\n', 'a\n')
    .map((line) => Buffer.from(line)),
)
const line = fc.constantFrom(
  '+OK',
  '-ERR no',
  ':1',
  '_',
  '#t',
  ',3.14',
  '(123',
  '$-1',
  '*-1',
  '*0',
  '%0',
  '~0',
)
const bulk = fc.tuple(fc.constantFrom('$', '=', '!'), fc.uint8Array({ maxLength: 30 }))
const { reply } = fc.letrec<{ reply: Buffer }>((tie) => ({
  reply: fc.oneof(
    { depthSize: 'small' },
    line.map((text) => Buffer.from(`${text}\r\n`)),
    bulk.map(([type, bytes]) =>
      Buffer.concat([Buffer.from(`${type}${bytes.length}\r\n`), bytes, Buffer.from('\r\n')]),
    ),
    fc
      .tuple(fc.constantFrom('*', '~', '>'), fc.array(tie('reply'), { maxLength: 4 }))
      .map(([type, parts]) => Buffer.concat([Buffer.from(`${type}${parts.length}\r\n`), ...parts])),
    fc
      .tuple(
        fc.constantFrom('%', '|'),
        fc.array(fc.tuple(tie('reply'), tie('reply')), { maxLength: 3 }),
        tie('reply'),
      )
      .map(([type, pairs, after]) =>
        Buffer.concat([
          Buffer.from(`${type}${pairs.length}\r\n`),
          ...pairs.flat(),
          ...(type === '|' ? [after] : []),
        ]),
      ),
  ),
}))

describe('requests', () => {
  // invariant: The end of a message is found, however it is cut.
  test('end where they end, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 8 }), cuts, fc.boolean(), (all, at, keepAll) => {
        const bytes = Buffer.concat(all)
        const seen = requestsIn(bytes, at, keepAll)
        expect(seen).toEqual(requestsIn(bytes, [], keepAll))
        expect(seen).toEqual(requestsIn(bytes, everyByte(bytes), keepAll))
        const ends = all.map((_, n) => Buffer.concat(all.slice(0, n + 1)).length)
        expect(seen.found.map((each) => (each as { end: number }).end)).toEqual(ends)
        expect(seen).toMatchObject({ error: undefined, whole: true })
      }),
    )
  })

  test('name noted commands with their arguments, in any case, inline too', () => {
    const bytes = Buffer.concat([
      encodeCommand(['aUtH', 'user', 'pass', 'more']),
      encodeCommand(['GET', 'key']),
      Buffer.from('auth "u\\x41\\n" \'p"\\\'\'\r\n'),
    ])
    expect(requestsIn(bytes, everyByte(bytes)).found).toMatchObject([
      { name: 'AUTH', words: ['user', 'pass'] },
      { name: undefined, words: [] },
      { name: 'AUTH', words: ['uA\n', 'p"\''] },
    ])
  })

  test.for([
    ['*2147483648\r\n', 'invalid multibulk length'],
    ['*01\r\n', 'invalid multibulk length'],
    ['*1\r\n$536870913\r\n', 'invalid bulk length'],
    ['*1\r\n$-1\r\n', 'invalid bulk length'],
    ['*1\r\n#4\r\n', "expected '$', got '#'"],
    ['x'.repeat(65_537), 'too big inline request'],
    ['GET "a\r\n', 'unbalanced quotes in request'],
    ['GET a\0\r\n', 'zero byte in inline request'],
    [`\0${'x'.repeat(65_536)}\r\n`, 'too big inline request'],
    ['*-0\r\n', 'invalid multibulk length'],
    ['*1\r\n$-0\r\n', 'invalid bulk length'],
    ['*1\r\n\r\n', "expected '$', got ' '"],
  ])('that are wrong get the error text of the engines: $1', ([text = '', error]) => {
    const bytes = Buffer.from(text)
    expect(requestsIn(bytes, []).error).toBe(error)
    expect(requestsIn(bytes, everyByte(bytes)).error).toBe(error)
  })

  test('that are long lines are taken where their end comes with what is beyond 64 KB, up to 128 KB', () => {
    const line = (length: number) => Buffer.from(`${'x'.repeat(length)}\n`)
    for (const length of [65_536, 65_537, 131_072])
      expect(requestsIn(line(length), [65_536])).toMatchObject({ found: [{}], error: undefined })
    expect(requestsIn(line(65_537), [65_537]).error).toBe('too big inline request')
    expect(requestsIn(line(131_073), [65_536]).error).toBe('too big inline request')
  })

  test('that are garbage never throw, and mean the same however they are cut', () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: fc.constantFrom(...'*$-0129\r\nAx"') }),
    )
    fc.assert(
      fc.property(garbage, cuts, (raw, at) => {
        const bytes = Buffer.from(raw as Uint8Array)
        expect(requestsIn(bytes, at)).toEqual(requestsIn(bytes, []))
      }),
      { numRuns: 2_000 },
    )
  })

  test('of many words are read in parts, if the scanner may look at so many at a time only', () => {
    const bytes = encodeCommand(['AUTH', ...Array.from({ length: 5_000 }, () => '')])
    const scanner = createRequestScanner(table)
    scanner.mostLooks = 1_000
    const rests: number[] = []
    let end = scanRequest(scanner, bytes, 0)
    while (end === RESTS) {
      rests.push(scanner.looks)
      scanner.looks = 0
      end = scanRequest(scanner, bytes, scanner.restsAt)
    }
    expect([end, rests, scanner.words.length]).toEqual([bytes.length, Array(5).fill(1_000), 2])
  })

  // invariant: The proxy keeps a bounded part of a message.
  test('are not kept beyond a bound, however many and long their arguments are', () => {
    const scanner = createRequestScanner(table)
    scanner.keepAll = true
    const chunk = Buffer.concat([
      Buffer.from('*2147483647\r\n'),
      ...Array(50_000).fill(Buffer.from('$0\r\n\r\n')),
    ])
    expect(scanRequest(scanner, chunk, 0)).toBe(-1)
    expect(scanner.words.length).toBeLessThan(20_000)
    // In a transaction more bytes may be kept, but no more words.
    const inTransaction = createRequestScanner(table)
    Object.assign(inTransaction, { keepAll: true, keepsMost: 16 * 1024 * 1024 })
    expect(scanRequest(inTransaction, chunk, 0)).toBe(-1)
    expect([inTransaction.words.length, inTransaction.cutShort]).toEqual([16_384, true])
    const long = createRequestScanner(table)
    scanRequest(long, Buffer.from('*2\r\n$4\r\nAUTH\r\n$536870912\r\n'), 0)
    for (let n = 0; n < 100; n += 1) scanRequest(long, Buffer.alloc(1024 * 1024), 0)
    expect([long.part.length, long.words, long.cutShort, long.error]).toEqual([0, [], true, undefined])
  })
})

describe('replies', () => {
  test('of many values are read in parts, if the scanner may look at so many at a time only', () => {
    const bytes = Buffer.from(`*5000\r\n${':1\r\n'.repeat(5_000)}`)
    const scanner = createReplyScanner()
    scanner.mostLooks = 1_000
    let parts = 1
    let end = scanReply(scanner, bytes, 0)
    for (; end === RESTS; parts += 1) {
      expect([scanner.looks, isBetweenReplies(scanner)]).toEqual([1_000, false])
      scanner.looks = 0
      end = scanReply(scanner, bytes, scanner.restsAt)
    }
    expect([end, parts]).toEqual([bytes.length, 6])
  })

  test('of RESP2 and RESP3 end where they end, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 8 }), cuts, (all, at) => {
        const bytes = Buffer.concat(all)
        const seen = repliesIn(bytes, at)
        expect(seen).toEqual(repliesIn(bytes, []))
        expect(seen).toEqual(repliesIn(bytes, everyByte(bytes)))
        const ends = all.map((_, n) => Buffer.concat(all.slice(0, n + 1)).length)
        expect(seen.found.map((each) => (each as { end: number }).end)).toEqual(ends)
        expect(seen).toMatchObject({ error: undefined, whole: true })
      }),
    )
  })

  test('that are garbage or nested without end never throw', () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: fc.constantFrom(...'*$%|>-0129\r\n') }),
    )
    fc.assert(
      fc.property(garbage, cuts, (raw, at) => {
        const bytes = Buffer.from(raw as Uint8Array)
        expect(repliesIn(bytes, at)).toEqual(repliesIn(bytes, []))
      }),
      { numRuns: 2_000 },
    )
  })

  test('end where they end, however deep they are nested, and keep little of it', () => {
    const deep = 1_000_000
    const chain = Buffer.from(`${'*1\r\n'.repeat(deep)}*0\r\n`)
    // Each list begins with another list, and goes on behind it.
    const stairs = Buffer.from(`${'*2\r\n'.repeat(90_000)}*0\r\n${':1\r\n'.repeat(90_000)}`)
    const maps = Buffer.from(`*2\r\n${'%1\r\n+k\r\n'.repeat(deep)}_\r\n-ERR no\r\n`)
    for (const bytes of [chain, stairs, maps]) {
      const seen = repliesIn(Buffer.concat([bytes, Buffer.from('+OK\r\n')]), [1, 1_000, 99_999])
      expect(seen).toMatchObject({
        found: [{ end: bytes.length, text: '' }, { type: '+' }],
        error: undefined,
      })
    }
    const scanner = createReplyScanner()
    scanReply(scanner, chain.subarray(0, -4), 0)
    expect(scanner.outer.length).toBeLessThan(10)
    expect(repliesIn(Buffer.from('*2\r\n'.repeat(200_000)), []).error).toContain(
      'nested more than 100000 deep',
    )
  })

  test('tell which of the watched elements are errors, and whether they are nil', () => {
    const inPieces = (text: string) => {
      const scanner = createReplyScanner()
      scanner.watched = [0, 2, 3, 5]
      for (const byte of Buffer.from(text)) scanReply(scanner, Buffer.from([byte]), 0)
      expect([isBetweenReplies(scanner), scanner.error]).toEqual([true, undefined])
      return { nil: scanner.isNil, failed: scanner.failed }
    }
    const parts =
      '-ERR a\r\n-ERR b\r\n*2\r\n-ERR c\r\n*1\r\n-ERR d\r\n|1\r\n-x\r\n-y\r\n!5\r\nERR e\r\n$-1\r\n'
    expect(inPieces(`*6\r\n${parts}*-1\r\n`)).toEqual({ nil: false, failed: [0, 3] })
    expect(inPieces(`*6\r\n${parts}-ERR f\r\n`)).toEqual({ nil: false, failed: [0, 3, 5] })
    expect(inPieces(`|1\r\n-x\r\n-y\r\n*1\r\n-ERR a\r\n`)).toEqual({ nil: false, failed: [0] })
    for (const nil of ['*-1\r\n', '$-1\r\n', '_\r\n'])
      expect(inPieces(nil)).toEqual({ nil: true, failed: [] })
    for (const one of ['*0\r\n', '$0\r\n\r\n', '*1\r\n_\r\n', '*1\r\n*-1\r\n'])
      expect(inPieces(one)).toEqual({ nil: false, failed: [] })
  })

  test('tell errors and first words', () => {
    const bytes = Buffer.from(
      '-UNBLOCKED force\r\n>2\r\n$7\r\nmessage\r\n:1\r\n|1\r\n+a\r\n+b\r\n*1\r\n$4\r\npong\r\n',
    )
    expect(repliesIn(bytes, everyByte(bytes)).found).toMatchObject([
      { type: '-', text: expect.stringContaining('UNBLOCKED force') },
      { type: '>', word: 'message' },
      { type: '*', word: 'pong' },
    ])
  })
})

test('the words of a request stay as they are when others are read behind it', () => {
  const scanner = createRequestScanner(table)
  const chunk = Buffer.concat([['MULTI'], ['AUTH', 'a', 'b']].map((each) => encodeCommand(each)))
  const next = scanRequest(scanner, chunk, 0)
  const { words } = scanner
  scanRequest(scanner, chunk, next)
  expect([words, scanner.words.map(String)]).toEqual([[], ['a', 'b']])
})
