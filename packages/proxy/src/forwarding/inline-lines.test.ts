import { encodeCommand, isReadDifferently, splitInline } from '@fairlead/engine'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { builds, dial, freePort, type RawClient, startEngine, until, wish } from '../../test/stage.ts'
import { openEndpoint } from '../endpoint/endpoint.ts'

/** Of which lines are made: words that the endpoint takes note of, and all that builds read in their own way. */
const piece = fc.oneof(
  fc.constantFrom(
    'SELECT',
    ' 1',
    'CLIENT SETNAME',
    ' n',
    'CLIENT GETNAME',
    'ECHO',
    ' a',
    'APPEND k',
    'RESET',
  ),
  fc.constantFrom(' ', '"', "'", '\\', '\\"', '\v', '\f', '\t', '\r', '\xff', '\xfe', '\x80', '\x1f', '""'),
  fc.constantFrom(' "a"', " 'b'", '\\xff', '\\x4', '"\v', "'\f", '\xff '),
)
const line = fc.array(piece, { minLength: 1, maxLength: 9 }).map((pieces) => pieces.join(''))

const END = '$11\r\nend-of-line\r\n'
const end = encodeCommand(['ECHO', 'end-of-line'])

/** What it is told, up to the next end of a line. */
async function told(client: RawClient, bytes: Buffer): Promise<string> {
  client.send(Buffer.concat([bytes, end]))
  await until(() => client.text().endsWith(END) || client.ended())
  const text = client.text()
  await client.gets(text)
  return text
}

test.for(builds)(
  'a line without a star is answered as by the engine, and means the same to all engines where they differ: %s',
  { timeout: 60_000 },
  async (build) => {
    await using engine = await startEngine(build)
    await using endpoint = await openEndpoint(wish(await freePort(), engine.port))
    const seen = { same: 0, refused: 0, differently: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
        await using direct = await dial(engine.port)
        await using through = await dial(endpoint.wanted.port)
        for (const text of lines) {
          await engine.admin('FLUSHALL')
          const bytes = Buffer.from(text.replace(/\r$/, ''), 'latin1')
          const words = isReadDifferently(bytes) ? splitInline(bytes) : null
          const request = Buffer.concat([bytes, Buffer.from('\r\n')])
          const ofEngine = await told(direct, words === null ? request : encodeCommand(words))
          await engine.admin('FLUSHALL')
          expect({ text, answer: await told(through, request) }).toEqual({ text, answer: ofEngine })
          seen[direct.ended() ? 'refused' : words === null ? 'same' : 'differently'] += 1
          if (direct.ended()) break
        }
        await until(() => through.ended() === direct.ended())
      }),
      {
        numRuns: 60,
        endOnFailure: true,
        examples: [[['RE\xffSET', ' ', 'SELECT "1"\vx', 'CLIENT SETNAME "a"b']]],
      },
    )
    expect(Math.min(seen.same, seen.refused, seen.differently)).toBeGreaterThan(10)
    await until(() => endpoint.report().connections === 0)
  },
)
