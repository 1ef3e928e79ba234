import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { campaign } from '../../../../../proof/campaign.ts'
import { createAdmission } from '../../../src/listen/admission.ts'
import { openSentinel } from '../../../src/sentinel/sentinel.ts'
import { hostileInput } from '../../hostile/hostile-input.ts'
import { request } from '../../hostile/hostile-words.ts'
import { createRandom, type Random } from '../../hostile/random.ts'
import { dial, freePort, type RawClient, until } from '../../stage.ts'

const { seed, times } = campaign()
const INPUTS = times('hostile', 5_000)
const AT_ONCE = 50
const MOST = 40
const [host, port] = ['127.0.0.1', 7001]
const databases = [{ name: 'orders', primary: { host, port }, replicas: [] }]
const listed = '*2\r\n$9\r\n127.0.0.1\r\n$4\r\n7001\r\n'

async function stageSentinel() {
  const admission = createAdmission(MOST)
  const at = await freePort()
  const onTrouble = (why: string) => expect.fail(why)
  const sentinel = await openSentinel({ host, port: at, admission, databases: () => databases, onTrouble })
  return {
    port: at,
    admission,
    report: sentinel.report,
    [Symbol.asyncDispose]: () => sentinel[Symbol.asyncDispose](),
  }
}

test(`${INPUTS} hostile inputs end nothing but their own connections, and the answerer keeps nothing of them`, async () => {
  await using stage = await stageSentinel()
  const random = createRandom(seed)
  const before = process.memoryUsage().rss
  for (let n = 0; n < INPUTS; n += AT_ONCE) {
    const sockets = Array.from({ length: AT_ONCE }, () => attack(stage.port, random))
    await using client = await dial(stage.port)
    await client.ask('SENTINEL GET-MASTER-ADDR-BY-NAME orders', listed)
    for (const socket of sockets) random.below(2) === 0 ? socket.destroy() : socket.end()
    for (const socket of sockets) socket.destroy()
    await until(() => sockets.every(({ destroyed }) => destroyed))
  }
  await until(() => stage.report().connections === 0)
  expect(stage.admission.open).toBe(0)
  expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000)
})

function attack(to: number, random: Random): Socket {
  const socket = connect({ host, port: to, noDelay: true })
  socket.on('error', () => undefined)
  const input = random.below(2) === 0 ? question(random) : hostileInput(random)
  if (input.readsReplies) socket.resume()
  socket.write(input.bytes)
  return socket
}

/**
 * What a Sentinel is asked, with names that do not exist, too many words, patterns that match everything
 * slowly, and in floods.
 */
function question(random: Random): { readonly bytes: Buffer; readonly readsReplies: boolean } {
  const name = random.pick(['orders', '', '__proto__', 'constructor', '\0', 'x'.repeat(5_000), 'orders\r\n'])
  const word = random.pick([
    'MASTERS',
    'MASTER',
    'REPLICAS',
    'GET-MASTER-ADDR-BY-NAME',
    'toString',
    'RESET',
    '',
  ])
  const text = random.pick([
    () => request('SENTINEL', word, name),
    () => request('SENTINEL', word, name).repeat(random.below(300)),
    () => request('SENTINEL', ...Array.from({ length: random.below(3_000) }, () => word)),
    () => request('PSUBSCRIBE', ...Array.from({ length: random.below(80) }, () => '*?'.repeat(120))),
    () => request('SUBSCRIBE', name, '+switch-master') + request('INFO', name),
    () =>
      `*${random.pick(['1025', '100000', '1048576', '-2'])}\r\n${'$1\r\na\r\n'.repeat(random.below(3_000))}`,
    () => request('HELLO', '3', 'SETNAME', name) + request('CLIENT', 'GETNAME'),
  ])()
  return { bytes: Buffer.from(text, 'latin1'), readsReplies: random.below(2) === 0 }
}

test('strangers that subscribe leave places to clients that ask, and clients that have subscribed keep theirs', async () => {
  await using stage = await stageSentinel()
  await using stack = new AsyncDisposableStack()
  const answers: string[] = []
  const listeners: RawClient[] = []
  for (let n = 0; n < MOST; n += 1) {
    const client = stack.use(await dial(stage.port))
    client.send('SUBSCRIBE +switch-master\r\n')
    await until(() => client.text().endsWith('\r\n'))
    answers.push(client.text())
    if (client.text().startsWith('*')) listeners.push(client)
  }
  expect(new Set(answers.slice(30))).toEqual(new Set(['-ERR max number of subscribed clients reached\r\n']))
  expect(listeners).toHaveLength(30)
  for (let n = 0; n < 2 * MOST; n += 1) {
    const client = stack.use(await dial(stage.port))
    await client.ask('SENTINEL GET-MASTER-ADDR-BY-NAME orders', listed)
  }
  expect(listeners.some((client) => client.ended())).toBe(false)
})
