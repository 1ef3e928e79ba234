import { expect, test } from 'vitest'
import { joinTrace, type Span } from './process/spans.ts'
import { traceCommand } from './trace-command.ts'

const address = { host: '127.0.0.1', port: 1 }

/** Returns the span names and operations of this command. */
async function told(...words: readonly (string | Buffer)[]): Promise<readonly unknown[]> {
  const spans: Span[] = []
  await joinTrace(
    `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    (span) => void spans.push(span),
    () => traceCommand(words, address, async () => 'OK'),
  )
  return spans.flatMap(({ name, attributes }) => [name, attributes['db.operation.name']])
}

test('a span has the name of its command, and no argument', async () => {
  expect(await told('config', 'get', 'requirepass')).toEqual(['CONFIG GET', 'CONFIG GET'])
  expect(await told('ft.search', Buffer.from('secret'))).toEqual(['FT.SEARCH', 'FT.SEARCH'])
})

test.each(['SET session:1 hunter2', 'x'.repeat(60_000), '\r\nhunter2', ''])(
  'a first word that is no name of a command is not told: a user has given it, maybe a whole line',
  async (word) => {
    expect(await told(word, Buffer.from('x'))).toEqual(['(unknown)', '(unknown)'])
  },
)
