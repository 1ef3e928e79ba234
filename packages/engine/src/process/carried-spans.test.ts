import { expect, test } from 'vitest'
import { createSpanBasket, readCarriedSpans, SPANS_HEADER } from './carried-spans.ts'
import { inSpan } from './spans.ts'

const traceId = 'a'.repeat(32)
const wanted = `00-${traceId}-${'b'.repeat(16)}-01`
const asked = { 'fairlead.part': 'agent' }

async function work(basket: ReturnType<typeof createSpanBasket>, traceparent: unknown, name = 'PUT /a/:id') {
  await basket.join(traceparent, () => inSpan({ name, kind: 'server', attributes: asked }, async () => 1))
}

test('spans of a request that is traced go back in the answer, once', async () => {
  const basket = createSpanBasket()
  await work(basket, wanted)
  const { [SPANS_HEADER]: text = '' } = basket.take(wanted)
  expect(readCarriedSpans(text)).toMatchObject([
    {
      traceId,
      parentId: 'b'.repeat(16),
      name: 'PUT /a/:id',
      kind: 'server',
      attributes: asked,
      isError: false,
    },
  ])
  expect(basket.take(wanted)).toEqual({})
})

test('a request that is not traced, or that asks not to be, leaves nothing', async () => {
  const basket = createSpanBasket()
  // Of version 00 the length is known; later ones may have more.
  for (const header of [undefined, '', 'x', ['a'], `00-${traceId}-${'b'.repeat(16)}-00`, `${wanted}-more`])
    await work(basket, header)
  expect(basket.take(wanted)).toEqual({})
  await work(basket, `01${wanted.slice(2)}-more`)
  expect(basket.take(wanted)).not.toEqual({})
})

test('an answer takes a bounded number of spans, in the space of a header, and those of a server that never asks are not kept for ever', async () => {
  const basket = createSpanBasket()
  const name = 'n'.repeat(100)
  for (let n = 0; n < 1_000; n += 1) await work(basket, wanted, name)
  let answers = 0
  for (let header = basket.take(wanted); SPANS_HEADER in header; header = basket.take(wanted)) {
    const text = header[SPANS_HEADER] ?? ''
    expect(text.length).toBeLessThan(12_000)
    expect(readCarriedSpans(text).length).toBeGreaterThan(0)
    answers += 1
  }
  expect(answers).toBeLessThan(30)
})

test('of what a proxy that was taken over sends, what is no span is left out', async () => {
  const basket = createSpanBasket()
  await work(basket, wanted)
  const [span] = JSON.parse(basket.take(wanted)[SPANS_HEADER] ?? '') as Record<string, unknown>[]
  const broken = [
    { traceId: 'x' },
    { spanId: 7 },
    { parentId: null },
    { name: 'a\nb' },
    { name: 'x'.repeat(5_000) },
    { kind: 'other' },
    { startMs: -1 },
    { endMs: Number.NaN },
    { startMs: 1e300 },
    { isError: 1 },
    { attributes: null },
    { attributes: { 'a b\n': 1 } },
    { attributes: { a: { deep: 1 } } },
  ].map((change) => ({ ...span, ...change }))
  expect(readCarriedSpans(JSON.stringify([...broken, null, 1, 'a', [], span]))).toEqual([span])
  for (const text of ['', '{', '{}', 'null', '[', '[[[[', 'x'.repeat(20_000), `[${'1,'.repeat(5_000)}1]`])
    expect(readCarriedSpans(text)).toEqual([])
})
