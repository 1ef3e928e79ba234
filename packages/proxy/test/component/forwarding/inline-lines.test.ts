import { setTimeout as delay } from 'node:timers/promises'
import { encodeCommand, isReadDifferently, splitInline } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { builds, dial, freePort, makeEndpointSpec, type RawClient, startEngine, until } from '../../stage.ts'

/** The parts of lines: words that the endpoint looks into, and everything that builds read differently. */
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

/** Its replies up to the next end of a line. */
async function told(client: RawClient, bytes: Buffer): Promise<string> {
  client.send(Buffer.concat([bytes, end]))
  await until(() => client.text().endsWith(END) || client.ended())
  const text = client.text()
  await client.gets(text)
  return text
}

test.for(builds)(
  'an inline line is answered as by the engine, and lines that engines read differently get one meaning: %s',
  async (build) => {
    await using engine = await startEngine(build)
    await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
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

test.for(builds)(
  'a line of more than 64 KB is a request like others where its end has come, and an error where it has not: %s',
  async (build) => {
    await using engine = await startEngine(build)
    await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
    for (const port of [engine.port, endpoint.wanted.port]) {
      await using client = await dial(port)
      // In one piece of up to some 70 KB it is a request to the engine, too.
      for (const value of ['x'.repeat(66_500), '"a b" '.repeat(11_000)]) {
        const words = splitInline(Buffer.from(`RPUSH list ${value}`)) ?? []
        client.send(`DEL list\r\nRPUSH list ${value}\r\n`)
        await until(() => client.text().split('\r\n').length === 3 || client.ended())
        expect(client.text()).toMatch(new RegExp(`^:[01]\r\n:${words.length - 2}\r\n$`))
        await client.gets(client.text())
      }
      await client.ask('LINDEX list -1', '$3\r\na b\r\n')
      client.send('x'.repeat(66_000))
      await until(client.ended)
      expect(client.text()).toMatch(/^-ERR Protocol error: too big inline request\r\n$|^$/)
    }
    // The longest permitted line, and one byte more. The cuts do not matter if no piece has more than 64 KB
    // without an end of line.
    await using client = await dial(endpoint.wanted.port)
    const line = (length: number) => `ECHO ${'x'.repeat(length - 5)}\r\n`
    client.send(line(130_000).slice(0, 65_530))
    await delay(20)
    client.send(line(130_000).slice(65_530))
    await until(() => client.text().length > 129_990 || client.ended())
    expect(client.text()).toHaveLength(130_000 - 5 + 11)
    await client.gets(client.text())
    await client.ask('PING', '+PONG\r\n')
  },
)
