import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Span } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { exportSpans } from '../../../../src/observe/traces/export-spans.ts'

/** A collector that answers with these statuses, one after the other, and then with 200. */
async function startCollector(statuses: readonly number[]) {
  const left = [...statuses]
  const taken: string[] = []
  let asked = 0
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked += 1
      const status = left.shift() ?? 200
      if (status === 200)
        taken.push(...[...body.matchAll(/"name":"(span \d+)"/g)].map(([, name = '']) => name))
      response.writeHead(status).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    taken,
    asked: () => asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function spanOf(n: number): Span {
  return {
    traceId: 'a'.repeat(32),
    spanId: String(n).padStart(16, '0'),
    parentId: null,
    name: `span ${n}`,
    kind: 'internal',
    startMs: 1,
    endMs: 2,
    attributes: {},
    isError: false,
  }
}

function exporterTo(url: string) {
  const lines: unknown[] = []
  const log = {
    warn: (...line: readonly unknown[]) => void lines.push(line),
    info: (...line: readonly unknown[]) => void lines.push(line),
  }
  const settings = { url, headers: {}, timeoutMs: 60_000, resource: {}, ratio: 1, followsParent: true }
  return { lines, exporter: exportSpans(settings, { version: '0.1.0', log }) }
}

test('spans wait for a collector that wants them later, and the log says so once', async () => {
  using collector = await startCollector([503, 429])
  const { exporter, lines } = exporterTo(collector.url)
  for (let n = 0; n < 600; n += 1) exporter.record(spanOf(n))
  await until('all spans', () => collector.taken.length === 600)
  expect(collector.taken).toEqual(Array.from({ length: 600 }, (_, n) => `span ${n}`))
  expect(lines.length).toBe(2)
  await exporter[Symbol.asyncDispose]()
})

test('a collector that refuses spans is not asked to take them again', async () => {
  using collector = await startCollector([400])
  const { exporter, lines } = exporterTo(collector.url)
  exporter.record(spanOf(1))
  await until('the refusal', () => lines.length === 1)
  exporter.record(spanOf(2))
  await until('the next span', () => collector.taken.length === 1)
  expect(collector.taken).toEqual(['span 2'])
  await exporter[Symbol.asyncDispose]()
})

test('while no collector answers, the newest spans are kept, and a bounded number of them', async () => {
  const { exporter, lines } = exporterTo('http://127.0.0.1:1/v1/traces')
  for (let n = 0; n < 5_000; n += 1) exporter.record(spanOf(n))
  await exporter[Symbol.asyncDispose]()
  expect(lines.length).toBe(1)
})

test('what is left when the server stops is sent', async () => {
  using collector = await startCollector([])
  const { exporter } = exporterTo(collector.url)
  exporter.record(spanOf(7))
  await exporter[Symbol.asyncDispose]()
  expect(collector.taken).toEqual(['span 7'])
})

test('a collector that hangs keeps the server from its end for two seconds, however long its time-out is', async () => {
  const server = createServer(() => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { exporter, lines } = exporterTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  for (let n = 0; n < 600; n += 1) exporter.record(spanOf(n))
  await exporter[Symbol.asyncDispose]()
  expect(lines.length).toBe(1)
  server.closeAllConnections()
  server.close()
}, 20_000)
