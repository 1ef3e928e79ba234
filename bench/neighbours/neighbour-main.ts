/** A quiet client of another database, in a process of its own: 200 requests a second, whether those before are answered or not. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { encodeCommand } from '@fairlead/engine'
import { type Felt, feltOf } from './summarize-neighbours.ts'

const EVERY_MS = 5
const { port, password } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly port: number
  readonly password: string
}
const questions = [
  { asks: encodeCommand(['PING']), answer: '+PONG\r\n' },
  { asks: encodeCommand(['GET', 'mine']), answer: '$4\r\ntrue\r\n' },
] as const

const socket = connect({ host: '127.0.0.1', port, noDelay: true })
await once(socket, 'connect')
socket.write(Buffer.concat([encodeCommand(['AUTH', password]), encodeCommand(['SET', 'mine', 'true'])]))
let text = ''
while (text !== '+OK\r\n+OK\r\n') text += String((await once(socket, 'data'))[0])
text = ''

/** Requests that are not answered yet: what was sent, and when. */
const asked: { readonly answer: string; readonly atMs: number }[] = []
let tookMs: number[] = []
let sent = 0
socket.on('data', (chunk: Buffer) => {
  text += chunk.toString('latin1')
  for (let [first] = asked; first !== undefined && text.length >= first.answer.length; [first] = asked) {
    if (!text.startsWith(first.answer)) throw new Error(`the neighbour was told ${JSON.stringify(text)}`)
    text = text.slice(first.answer.length)
    tookMs.push(performance.now() - first.atMs)
    asked.shift()
  }
})
socket.on('close', () => {
  throw new Error('the neighbour was cut off')
})
setInterval(() => {
  const { asks, answer } = questions[sent % 2 === 0 ? 0 : 1]
  sent += 1
  asked.push({ answer, atMs: performance.now() })
  socket.write(asks)
}, EVERY_MS)

process.on('message', () => {
  // Requests that still wait count with their time so far.
  const all = [...tookMs, ...asked.map(({ atMs }) => performance.now() - atMs)]
  const felt: Felt = feltOf(all)
  process.send?.(felt)
  tookMs = []
})
process.once('disconnect', () => process.exit())
process.send?.({ ready: true })
