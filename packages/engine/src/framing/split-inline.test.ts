import { expect, test } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import { makeCommandTable } from './command-table.ts'
import { encodeCommand } from './encode-command.ts'
import { createRequestScanner } from './request-scanner.ts'
import { scanRequest } from './scan-requests.ts'
import { inlineAsArray, isReadDifferently, splitInline } from './split-inline.ts'

/** Splits like the engines (sdssplitargs), by another algorithm. */
function split(text: string): readonly string[] | null {
  const words: string[] = []
  for (let rest = withoutSpace(text); rest !== ''; rest = withoutSpace(rest)) {
    let word = ''
    for (let part = ''; !/^([ \t\r\n]|$)/.test(rest); rest = rest.slice(part.length)) {
      const wasQuoted = /^["']/.test(part)
      if (wasQuoted && /^[\v\f]/.test(rest)) break
      const [all, plain = '', double = '', single = ''] = aPart.exec(rest) ?? []
      if (all === undefined) return null
      part = all
      word += plain + withoutEscapes(double) + single.replaceAll("\\'", "'")
    }
    words.push(word)
  }
  return words
}

const aPart = /^(?:([^ \t\r\n"']+)|"((?:\\(?!"$).|[^"\\]|\\(?="$))*)"|'((?:\\'|[^'\\]|\\(?!'))*)')/s

function withoutSpace(text: string): string {
  return text.replace(/^[ \t-\r]+/, '')
}

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\x([0-9a-fA-F]{2})|\\(.)/gs, (_, hex?: string, char = '') =>
    hex === undefined ? (letters[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const line = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`ab "'\\xn4fZ \t\v"'`), maxLength: 30 }),
  fc
    .array(fc.constantFrom(' ', 'ab', '"a b"', "'c\\'d'", '"\\x41\\n\\q\\xzz"', '""', "''", 'e"f"', '\xff'), {
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
)

test('a line is split as engines split it, in part and as an array too', () => {
  fc.assert(
    fc.property(line, fc.nat(5), (text, most) => {
      const bytes = Buffer.from(text, 'latin1')
      const words = splitInline(bytes)
      expect(words?.map((word) => word.toString('latin1')) ?? null).toEqual(split(text))
      expect(splitInline(bytes, most)).toEqual(words?.slice(0, most) ?? null)
      expect(inlineAsArray(bytes)).toEqual(words === null ? null : encodeCommand(words))
    }),
    { numRuns: 5_000 },
  )
})

test('vertical tabs and form feeds stand between words, and end none', () => {
  const wordsOf = (text: string) => splitInline(Buffer.from(text))?.map(String)
  expect(wordsOf('ECHO a\vb')).toEqual(['ECHO', 'a\vb'])
  expect(wordsOf('ECHO \v\fb\f')).toEqual(['ECHO', 'b\f'])
})

test.for([
  ['a\xffb', true],
  ['"a"\vb', true],
  ["'a'\f", true],
  ['a\vb \v c\f', false],
  ['\xfe"b"c \\xff', false],
] as const)('whether engines find other words in %j: %s', ([text, isSo]) => {
  expect(isReadDifferently(Buffer.from(text, 'latin1'))).toBe(isSo)
})

const table = makeCommandTable({ AUTH: 2 })

test.for([100, 101, 30_000])('of a line of %d words no more are made than may be kept', (count) => {
  const scanner = createRequestScanner(table)
  scanner.keepAll = true
  scanner.keepsMost = 100 * 64
  const bytes = Buffer.from(`${'a '.repeat(count)}\r\n`)
  expect(scanRequest(scanner, bytes, 0)).toBe(bytes.length)
  expect([scanner.words.length, scanner.cutShort]).toEqual([100, count > 100])
})

test.for([
  ['30,000 words', 'a '.repeat(30_000)],
  ['30,000 words of a noted command', 'a '.repeat(30_000), 'AUTH'],
  ['a long word', 'a'.repeat(60_000)],
  ['15,000 escapes', `"${'\\x41'.repeat(15_000)}"`],
  ['blanks', `${' '.repeat(60_000)}x`],
  ['30,000 words that engines read differently', '\xff '.repeat(30_000)],
  ['20,000 quotes that engines read differently', '""\v'.repeat(20_000)],
])(
  '20 lines of 60 KB with %s take less than 200 ms of the processor, and only what is noted is kept',
  ([, rest, name = 'PING']) => {
    const bytes = Buffer.from(`${name} ${rest}\r\n`.repeat(20), 'latin1')
    const costMs = () => {
      const scanner = createRequestScanner(table)
      const before = process.cpuUsage()
      for (let at = 0; at < bytes.length; ) {
        at = scanRequest(scanner, bytes, at)
        expect([scanner.error, scanner.words.length]).toEqual([undefined, name === 'AUTH' ? 2 : 0])
        expect(scanner.lineBytes).toBeGreaterThan(60_000)
      }
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }
    // Noise of the machine is in one try or another, not in all.
    expect(Math.min(costMs(), costMs(), costMs())).toBeLessThan(200)
  },
)
