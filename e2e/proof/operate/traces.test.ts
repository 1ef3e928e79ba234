import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { type Collector, startCollector } from '../../../proof/start-collector.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[]
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SentSpan['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}

/** Of all requests that the collector has taken. */
const bodies = () => collector.taken.map(({ body }) => JSON.parse(body) as Exported)
const allSpans = () =>
  bodies().flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )

const traceId = '0af7651916cd43dd8448eb211c80319c'
const ourSpan = 'b7ad6b7169203331'

let collector: Collector
let fairlead: Fairlead
let uid: number
let action: string
let restartedMs: number
beforeAll(async () => {
  collector = await startCollector('x-key')
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
    OTEL_SERVICE_NAME: 'the-fairlead-of-a-test',
  }
  fairlead = await startFairlead({ env })
  const body = { name: 'traced', memory_size: 0, replication: true, engine_version: build('redis', '7.0') }
  const made = await fairlead.api.createDatabase({ body })
  uid = made.uid
  await fairlead.untilEnded(made.action_uid)
  action = await upgrade(`00-${traceId}-${ourSpan}-01`)
})
afterAll(async () => {
  await fairlead[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

async function upgrade(traceparent: string): Promise<string> {
  const answer = await fetch(new URL(`/v1/bdbs/${uid}/upgrade`, fairlead.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${fairlead.token}`, 'content-type': 'application/json', traceparent },
    body: JSON.stringify({ engine_version: build('valkey', '8.1'), rollback_window: 'until_finalized' }),
  })
  const { action_uid } = (await answer.json()) as { readonly action_uid: string }
  // The second half is done by another process of the server.
  const params = { uid: action_uid }
  await until(
    'the rollback window',
    async () => (await fairlead.api.getAction({ params })).hold_reason === 'until_finalized',
    { withinMs: 120_000 },
  )
  await fairlead.server.end('SIGTERM')
  restartedMs = Date.now()
  await fairlead.server.start()
  await fairlead.api.finalizeAction({ params })
  expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
  return action_uid
}

/** The trace of the upgrade, once its last span has come. */
async function spansOfUpgrade(): Promise<readonly SentSpan[]> {
  return await until('the span of the action', () => {
    const spans = allSpans().filter((span) => span.traceId === traceId)
    return spans.some(({ name }) => name === 'action upgrade') && spans
  })
}

const named = (spans: readonly SentSpan[], name: string) => {
  const found = spans.find((span) => span.name === name)
  if (found === undefined)
    throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`)
  return found
}

describe('the trace of an upgrade', () => {
  test('goes from the request of a client to the action, its steps, and each command of the handover', async () => {
    const spans = await spansOfUpgrade()
    const request = named(spans, 'POST /v1/bdbs/:uid/upgrade')
    expect(request).toMatchObject({ kind: 2, parentSpanId: ourSpan })
    const whole = named(spans, 'action upgrade')
    expect(whole.parentSpanId).toBe(request.spanId)
    expect(whole.attributes).toContainEqual({ key: 'fairlead.action', value: { stringValue: action } })
    const handover = named(spans, 'step hand-over')
    expect(handover.parentSpanId).toBe(whole.spanId)

    const byId = new Map(spans.map((span) => [span.spanId, span]))
    const isWithin = (span: SentSpan | undefined, outer: SentSpan): boolean =>
      span !== undefined && (span === outer || isWithin(byId.get(span.parentSpanId ?? ''), outer))
    const handovers = spans.filter(({ name }) => name === 'step hand-over')
    const within = spans.filter((span) => handovers.some((one) => isWithin(span, one)))
    const names = new Set(within.map(({ name }) => name))
    for (const name of ['record-intent', 'record-handover', 'CLIENT PAUSE', 'REPLICAOF', 'INFO'])
      expect(names, name).toContain(name)
    expect([...names].some((name) => name.startsWith('proxy POST '))).toBe(true)
    // Whatever order they came in, each has its parent in the trace, but for the request, whose parent is
    // ours.
    const orphans = spans.filter(
      ({ parentSpanId }) => !byId.has(parentSpanId ?? '') && parentSpanId !== ourSpan,
    )
    expect(orphans.map(({ name }) => name)).toEqual([])
  })

  test('has what the agent and the proxy did meanwhile', async () => {
    const spans = await spansOfUpgrade()
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    const partOf = ({ attributes }: SentSpan) =>
      attributes.find(({ key }) => key === 'fairlead.part')?.value['stringValue']
    const orders = spans.filter(({ kind, name }) => kind === 2 && name !== 'POST /v1/bdbs/:uid/upgrade')
    for (const [part, name] of [
      ['agent', 'PUT /agent/shards/:id'],
      ['proxy', 'POST /proxy/endpoints/:id/hold'],
      ['proxy', 'POST /proxy/endpoints/:id/switch'],
    ] as const) {
      const order = named(orders, name)
      expect(partOf(order)).toBe(part)
      // Its parent is the order as the server sent it.
      expect(byId.get(order.parentSpanId ?? '')).toMatchObject({
        kind: 3,
        name: expect.stringMatching(`^${part} `),
      })
    }
    const start = named(spans, 'start engine')
    expect([partOf(start), byId.get(start.parentSpanId ?? '')?.name]).toEqual([
      'agent',
      'PUT /agent/shards/:id',
    ])
    const held = named(spans, 'clients held')
    const switched = named(orders, 'POST /proxy/endpoints/:id/switch')
    expect(BigInt(held.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(switched.endTimeUnixNano))
    const waits = spans.filter(({ name }) => name.startsWith('wait '))
    expect(waits.map(({ name }) => name)).toContain('wait until_finalized')
  })

  test('goes on after a restart of the server', async () => {
    const spans = await spansOfUpgrade()
    const whole = named(spans, 'action upgrade')
    const later = spans.filter(
      ({ name, startTimeUnixNano }) =>
        name.startsWith('step ') && BigInt(startTimeUnixNano) > BigInt(restartedMs) * 1_000_000n,
    )
    expect(later.length).toBeGreaterThan(0)
    for (const step of [...later, named(spans, 'step hand-over')])
      expect(step.parentSpanId).toBe(whole.spanId)
  })

  test('has the action in the log of the proxy by its id', async () => {
    const log = readFileSync(join(fairlead.home, 'proxy', 'proxy.log'), 'utf8')
    const orders = log.split('\n').filter((line) => line.includes('"an order"') && line.includes('/hold'))
    expect(orders.map((line) => (JSON.parse(line) as { readonly request?: string }).request)).toContain(
      action,
    )
  })

  test('has times that fit into each other', async () => {
    const spans = await spansOfUpgrade()
    const whole = named(spans, 'action upgrade')
    for (const span of spans.filter(({ name }) => name.startsWith('step '))) {
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
      expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(whole.endTimeUnixNano))
    }
  })

  test('is sent as the standard variables say', async () => {
    await spansOfUpgrade()
    expect(collector.taken[0]?.head).toEqual(['POST', '/v1/traces', 'application/json', 'a key'])
    expect(bodies()[0]?.resourceSpans[0]?.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'the-fairlead-of-a-test' },
    })
  })

  test('has no argument of a command, no password and no token', async () => {
    await spansOfUpgrade()
    const { authentication_engine_pass: password } = await fairlead.api.getDatabase({ params: { uid } })
    const all = collector.taken.map(({ body }) => body).join()
    expect(all).not.toContain(fairlead.token)
    expect(password).toBeTypeOf('string')
    expect(all).not.toContain(password)
    expect(all).not.toContain('the-proof-is-in-the-ledger')
  })
})

test('a request whose caller does not want to be traced is not', async () => {
  const unwanted = '1bf7651916cd43dd8448eb211c80319d'
  const ask = async (traceparent: string) => {
    const headers = { authorization: `Bearer ${fairlead.token}`, traceparent }
    await (await fetch(new URL('/v1/cluster', fairlead.url), { headers })).text()
  }
  await ask(`00-${unwanted}-${ourSpan}-00`)
  const wanted = '2cf7651916cd43dd8448eb211c80319e'
  await ask(`00-${wanted}-${ourSpan}-01`)
  await until('the span of the other request', () => allSpans().some((span) => span.traceId === wanted))
  expect(allSpans().filter((span) => span.traceId === unwanted)).toEqual([])
})
