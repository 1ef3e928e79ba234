import { once } from 'node:events'
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { Latency } from './neighbour.ts'

/** The thread of a Neighbour (neighbour.ts). */
const EVERY_MS = 2
const PONG_BYTES = '+PONG\r\n'.length

const { port } = workerData as { readonly port: number }
const socket = connect({ host: '127.0.0.1', port, noDelay: true })
await once(socket, 'connect')
/** The due times of the requests without an answer. */
const asked: number[] = []
let took: number[] = []
let bytes = 0
socket.on('data', (chunk) => {
  bytes += chunk.length
  const now = performance.now()
  for (; bytes >= PONG_BYTES; bytes -= PONG_BYTES) took.push(now - (asked.shift() ?? now))
})
let dueMs = performance.now()
let isOn = false
setInterval(() => {
  for (const now = performance.now(); dueMs <= now; dueMs += EVERY_MS) {
    if (!isOn) continue
    // Counts from the due time: a client that asks late has waited, too.
    asked.push(dueMs)
    socket.write('PING\r\n')
  }
}, EVERY_MS)

parentPort?.on('message', (message: 'begin' | 'end') => {
  isOn = message === 'begin'
  if (!isOn) return void tellAll()
  took = []
  dueMs = performance.now()
  parentPort?.postMessage(null)
})

async function tellAll(): Promise<void> {
  while (asked.length > 0) await once(socket, 'data')
  const sorted = took.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round((sorted[Math.floor(sorted.length * part)] ?? 0) * 10) / 10
  const latency: Latency = { p50: at(0.5), p99: at(0.99), max: at(0.9999), answers: sorted.length }
  parentPort?.postMessage(latency)
}
