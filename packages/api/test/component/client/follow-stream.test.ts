import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import { followStream, readEvents } from '../../../src/client/follow-stream.ts'

async function collect<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const event of events) all.push(event)
  return all
}

async function* pieces(...texts: readonly string[]) {
  yield* texts
}

const event = (seq: number) => `id: ${seq}-ab\nevent: action\ndata: {"seq":${seq}}\n\n`
const end = 'event: end\ndata: {}\n\n'

test('events are the same however their text is cut, and whatever ends its lines', async () => {
  const text =
    ': a comment\n\nid: 1\nevent: action\ndata: {"a":\ndata:1}\n\n\nretry: 5\nevent: alone\n\ndata\ndata: x: y\n\ndata: cut off'
  const expected = [
    { id: '1', type: 'action', data: '{"a":\n1}' },
    { type: 'message', data: '\nx: y' },
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(150), { maxLength: 20 }),
      async (lineEnd, cuts) => {
        const sent = text.replaceAll('\n', lineEnd)
        const places = [0, ...cuts.toSorted((a, b) => a - b), sent.length]
        const parts = places.slice(1).map((to, n) => sent.slice(places[n], to))
        expect(await collect(readEvents(pieces(...parts)))).toEqual(expected)
      },
    ),
  )
})

test('a stream that breaks off goes on after the last event it had', async () => {
  const asked: (string | undefined)[] = []
  const answers = [
    async function* () {
      yield event(1) + event(2)
      throw new Error('the connection broke')
    },
    () => {
      throw new ApiError(503, 'unavailable', 'in a moment')
    },
    () => pieces(event(3).slice(0, -3)), // closed in the middle of an event
    () => pieces(event(3), end, event(4)),
  ]
  const all = await collect(
    followStream<{ seq: number }>(async (last) => {
      asked.push(last)
      return answers[asked.length - 1]?.() ?? pieces()
    }),
  )
  expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(asked).toEqual([undefined, '2-ab', '2-ab', '2-ab'])
})

test('it ends when the server refuses, when the first connection fails, and when the caller aborts', async () => {
  let tries = 0
  const declined = followStream(async () => {
    tries += 1
    if (tries > 1) throw new ApiError(401, 'unauthorized', 'the token has ended')
    return pieces(event(1))
  })
  await expect(collect(declined)).rejects.toMatchObject({ code: 'unauthorized' })
  expect(tries).toBe(2)
  const away = followStream(() => Promise.reject(new Error('no server is there')))
  await expect(collect(away)).rejects.toThrow('no server is there')

  const stop = new AbortController()
  const endless = followStream<{ seq: number }>(async () => pieces(event(1)), stop.signal)
  const stopped = collect(endless)
  stop.abort(new Error('enough'))
  await expect(stopped).rejects.toThrow('enough')
})

test.each(['', '\n'])(
  'an event that goes on without an end is given up: its lines end in %j',
  async (lineEnd) => {
    let sent = 0
    async function* endless() {
      for (const many = `data: ${'x'.repeat(600)}${lineEnd}`.repeat(1_000); sent < 1_000; sent += 1)
        yield many
    }
    await expect(collect(readEvents(endless()))).rejects.toThrow('an event of the stream is longer than')
    expect(sent).toBeLessThan(100)
  },
)
