import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A client of another database, in a thread of its own: it sends one question after the other, and records
 * how long each takes.
 */
const { port, password } = workerData as { readonly port: number; readonly password: string }
const tell = parentPort
if (tell === null) throw new Error('this is a thread: startNeighbour starts it')

const PAUSE_MS = 1
const questions = [
  ['PING\r\n', '+PONG\r\n'],
  ['GET mine\r\n', '$4\r\ntrue\r\n'],
] as const

const socket = connect({ host: '127.0.0.1', port, noDelay: true })
let asked = -2
let atMs = 0
let isWaiting = false
let text = ''
/** How long each answer took, in milliseconds, since the last reading. */
let tookMs: number[] = []
let wrong = ''

const fail = (what: string) => {
  if (wrong === '') wrong = what
}
const ask = () => {
  atMs = performance.now()
  isWaiting = true
  socket.write(
    asked === -2
      ? `AUTH ${password}\r\n`
      : asked === -1
        ? 'SET mine true\r\n'
        : (questions[asked % 2]?.[0] ?? ''),
  )
}
socket.on('connect', ask)
socket.on('data', (chunk) => {
  text += chunk.toString('latin1')
  const wanted = asked < 0 ? '+OK\r\n' : (questions[asked % 2]?.[1] ?? '')
  if (text.length < wanted.length) return
  if (text !== wanted) fail(`wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(text)}`)
  text = ''
  isWaiting = false
  tookMs.push(performance.now() - atMs)
  asked += 1
  setTimeout(ask, PAUSE_MS)
})
socket.on('error', (cause) => fail(cause.message))
socket.on('close', () => fail('its connection was closed'))

tell.on('message', () => {
  const unanswered = isWaiting ? [performance.now() - atMs] : []
  tell.postMessage({ tookMs: [...tookMs, ...unanswered], wrong })
  tookMs = []
})
