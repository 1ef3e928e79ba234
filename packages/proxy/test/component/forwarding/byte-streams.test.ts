import { setTimeout as delay } from 'node:timers/promises'
import { encodeCommand } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { campaign } from '../../../../../proof/campaign.ts'
import { fc } from '../../../../../proof/properties.ts'
import { dial, type Engine, makePair, newest, type Pair, startEngine, until } from '../../stage.ts'

/*
 * What a client sends is cut anywhere, and at each cut something may happen to the engines. Its replies, and
 * the data afterwards, must be the same as with one engine without faults. Left out are documented
 * differences: WATCH and tracking over a handover, requests of more than 8 MB over a handover, what is
 * documented to be closed, and numbers of connections.
 */

const { times } = campaign()
const withinMs = times('byte-streams', 180_000)
const wanted = { endOnFailure: true, reporter: report }

const keys = ['a', 'b', 'c'] as const
const key = fc.constantFrom(...keys)
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', '\r\n', '*1\r\n$4\r\nPING\r\n', 'x\r\nFLUSHALL\r\nSET a smuggled\r\n'),
)
const bytes = fc.oneof(
  { weight: 8, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc
      .oneof(fc.integer({ min: 1_000, max: 60_000 }), fc.integer({ min: 64_000, max: 700_000 }))
      .map((length) => 'big\r\nSET b 1\r\n'.repeat(length / 14)),
  },
)
const words: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc.tuple(fc.constant('SET'), key, bytes),
  fc.tuple(fc.constant('APPEND'), key, bytes),
  fc.tuple(fc.constantFrom('INCR', 'GET', 'DEL', 'STRLEN', 'LLEN', 'LPOP', 'TYPE'), key),
  fc.tuple(fc.constantFrom('LPUSH', 'RPUSH'), fc.constantFrom('l', ...keys), text),
  fc.tuple(fc.constant('BLPOP'), fc.constantFrom('l', 'none'), fc.constantFrom('0.01', '0.05', 'x')),
  fc.tuple(fc.constant('SELECT'), fc.constantFrom('0', '1', '2', '99', 'x')),
  fc.tuple(fc.constant('ECHO'), bytes),
  fc.tuple(
    fc.constant('EVAL'),
    fc.constant("return {redis.call('INCR', KEYS[1]), {KEYS[1]}}"),
    fc.constant('1'),
    key,
  ),
  fc.tuple(fc.constant('CLIENT'), fc.constant('SETNAME'), fc.constantFrom('x', 'y', 'not allowed')),
  fc.constantFrom<readonly string[]>(
    ...[
      ['CLIENT', 'GETNAME'],
      ['CLIENT', 'REPLY', 'SKIP'],
      ['CLIENT', 'REPLY', 'OFF'],
      ['CLIENT', 'REPLY', 'ON'],
    ],
    ...[
      ['NONE'],
      ['GET'],
      ['HELLO', '3'],
      ['HELLO', '2'],
      ['RESET'],
      ['SUBSCRIBE', 'n', 'm'],
      ['UNSUBSCRIBE'],
    ],
  ),
)
/** A request in words, or bytes as they are. */
type Said = readonly string[] | string
const block: fc.Arbitrary<readonly Said[]> = fc.oneof(
  { weight: 6, arbitrary: words.map((each) => [each]) },
  { weight: 2, arbitrary: inTransaction() },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        'PING\r\n',
        'incr a\r\n',
        '\r\n',
        '*0\r\n',
        '*-1\r\n',
        'SET b "a b\\r\\n"\r\n',
        'EXEC\r\n',
        "GET 'a'\n",
        'MULTI x\r\n',
      )
      .map((line) => [line]),
  },
)
const garbage = fc.constantFrom('', '', '', '*x\r\n', '*1\r\n+4\r\n', 'GET "\r\n', '*3\r\n$-7\r\n')
type Event = 'handover' | 'stall' | 'handover of a stalled engine' | 'nothing'
const cut = fc.record({
  at: fc.nat(1_000_000),
  event: fc.constantFrom<Event>(
    'handover',
    'handover',
    'stall',
    'handover of a stalled engine',
    'nothing',
    'nothing',
  ),
})
interface Conversation {
  readonly said: readonly Said[]
  /** What is no request, behind it. */
  readonly garbage: string
  readonly cuts: readonly { readonly at: number; readonly event: Event }[]
}
const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    blocks: fc.array(block, { minLength: 1, maxLength: 12 }),
    garbage,
    cuts: fc.array(cut, { minLength: 1, maxLength: 4 }),
  })
  .map(({ blocks, ...rest }) => ({ said: blocks.flat(), ...rest }))
  .filter(({ said }) => !hasUnmovable(said))

/**
 * What makes engines answer EXEC with half of a reply, and subscriptions in a transaction: documented to be
 * closed.
 */
function isUnmovableInside([name = '', what]: readonly string[]): boolean {
  return ['SUBSCRIBE', 'UNSUBSCRIBE'].includes(name) || what === 'REPLY'
}

/** Longer requests are kept in part only, if at all. */
const LONG_BYTES = 60_000

/**
 * It has such a command in a transaction (one that EXEC with an argument has not ended, say), one that
 * changes the connection in a transaction without replies, or one that waits without a reply: documented to
 * be closed, too; or one without a reply that is long.
 */
function hasUnmovable(said: readonly Said[]): boolean {
  let isOpen = false
  let silent = ''
  return said.some((each) => {
    const [name = '', ...args] = typeof each === 'string' ? each.trim().split(' ') : each
    // It ends where it began: a handover waits for it.
    if (silent !== '' && args.some(({ length }) => length > LONG_BYTES)) return true
    if (isOpen && isUnmovableInside([name, ...args])) return true
    if (isOpen && silent !== '' && ['SELECT', 'CLIENT', 'HELLO'].includes(name)) return true
    if (!isOpen && silent !== '' && ['BLPOP', 'SUBSCRIBE', 'UNSUBSCRIBE'].includes(name)) return true
    if (name === 'MULTI' && args.length === 0) isOpen = true
    if (name === 'RESET' || (['EXEC', 'DISCARD'].includes(name) && args.length === 0)) isOpen = false
    const isSetting = name === 'CLIENT' && args[0] === 'REPLY'
    if (isSetting && args[1] !== 'SKIP') silent = args[1] === 'OFF' ? 'OFF' : ''
    else if (isSetting) silent ||= 'SKIP'
    else if (name === 'RESET' || silent === 'SKIP') silent = ''
    return false
  })
}

function inTransaction(): fc.Arbitrary<readonly Said[]> {
  const inside = words.filter((each) => !isUnmovableInside(each) && each[0] !== 'RESET')
  const end = fc.constantFrom(
    ['EXEC'],
    ['EXEC'],
    ['EXEC'],
    ['DISCARD'],
    ['EXEC', 'x'],
    ['DISCARD', 'x'],
    ['RESET'],
  )
  return fc.tuple(fc.array(inside, { maxLength: 6 }), end).map(([all, last]) => [['MULTI'], ...all, last])
}

/** For people: each request with its long words cut, the garbage, and what happened where. */
function shown({ said, garbage: last, cuts }: Conversation): string {
  const short = (word: string) =>
    JSON.stringify(word.length > 40 ? `${word.slice(0, 20)}… of ${word.length}` : word)
  const lines = said.map((each) =>
    typeof each === 'string' ? `inline ${short(each)}` : each.map(short).join(' '),
  )
  const events = cuts.map(({ at, event }) => `${event} at ${at % (soundOf(said).length + 1)}`)
  return [...lines, `garbage ${short(last)}`, events.join(', ')].join('\n')
}

function soundOf(said: readonly Said[]): Buffer {
  return Buffer.concat(
    said.map((each) => (typeof each === 'string' ? Buffer.from(each) : encodeCommand(each))),
  )
}

/** Restores the connection to its first state, and sends a marker. */
const goodbye = Buffer.from('\r\nRESET\r\nECHO that-was-all\r\n')
const isOver = (answers: string) => answers.endsWith('$12\r\nthat-was-all\r\n')
const withoutNumbers = (answers: string) => answers.replace(/\$2\r\nid\r\n:\d+/g, 'id')

async function talk(
  { port, engine }: { readonly port: number; readonly engine: () => Engine },
  { said, garbage: last, cuts }: Conversation,
  happen: (event: Event) => Promise<void>,
) {
  const sound = soundOf(said)
  const all = Buffer.concat([sound, Buffer.from(last), ...(last === '' ? [goodbye] : [])])
  await using client = await dial(port)
  let from = 0
  const places = cuts
    .map(({ at, event }) => ({ at: at % (sound.length + 1), event }))
    .toSorted((a, b) => a.at - b.at)
  for (const { at, event } of places) {
    client.send(all.subarray(from, at))
    from = at
    await happen(event)
  }
  client.send(all.subarray(from))
  const ends = () => JSON.stringify(client.text().slice(-200))
  // Bytes that are no request make the engine close.
  await until(
    () => client.ended() || (last === '' ? isOver(client.text()) : wouldClose(engine())),
    () => `the last answers are ${ends()}`,
  )
  if (last !== '' && !client.ended()) {
    client.socket.end()
    await until(client.ended, () => `not closed behind ${ends()}`)
  }
  return withoutNumbers(client.text())
}

/**
 * If a client has switched replies off, and sends bytes that are no request, an engine never closes the
 * connection: it would close it behind its error, which is never sent. It does not read from it any more,
 * except its end.
 */
async function wouldClose(engine: Engine): Promise<boolean> {
  const clients = (await engine.admin('CLIENT LIST')).split('\n')
  return clients.some((each) => /flags=[^ ]*c/.test(each) && each.includes(' obl=0 '))
}

async function leftIn(engine: Engine): Promise<readonly string[]> {
  await using client = await dial(engine.port)
  const found: string[] = []
  for (const database of [0, 1, 2]) {
    for (const each of ['l', ...keys])
      client.send(`SELECT ${database}\r\nTYPE ${each}\r\nGET ${each}\r\nLRANGE ${each} 0 -1\r\n`)
    client.send(`ECHO db${database}\r\n`)
    await until(() => client.text().endsWith(`$3\r\ndb${database}\r\n`))
    found.push(client.text())
    await client.gets(client.text())
  }
  return found
}

async function isLikeOne(
  pair: Pair,
  control: Engine,
  said: Conversation,
  happen: (event: Event) => Promise<void>,
) {
  await control.admin('FLUSHALL')
  await pair.primary().admin('FLUSHALL')
  const direct = await talk({ port: control.port, engine: () => control }, said, async () => undefined)
  const through = await talk({ port: pair.port, engine: pair.primary }, said, happen)
  expect(through).toBe(direct)
  expect(await leftIn(pair.primary())).toEqual(await leftIn(control))
}

async function stall(engine: Engine, act: () => Promise<void>): Promise<void> {
  engine.process.kill('SIGSTOP')
  try {
    await act()
  } finally {
    engine.process.kill('SIGCONT')
  }
}

/** The report of fast-check holds every byte of the conversation: too much to read. */
function report(run: fc.RunDetails<[Conversation]>): void {
  if (!run.failed) return
  const [said] = run.counterexample ?? []
  const what = said === undefined ? 'nothing was said' : shown(said)
  throw new Error(`seed ${run.seed}, path ${run.counterexamplePath}\n${what}`, { cause: run.errorInstance })
}

// invariant: Bytes of a client, cut anywhere, are answered across handovers as by one engine.
test('the replies to any bytes of a client, cut anywhere, with handovers and stalls at the cuts, are those that one engine might give', {
  timeout: withinMs,
}, async () => {
  await using control = await startEngine(newest)
  await using pair = await makePair(newest, newest)
  const happen = async (event: Event) => {
    const old = pair.primary()
    if (event === 'nothing') await new Promise((tell) => setImmediate(tell))
    if (event === 'stall') await stall(old, () => delay(15))
    if (event.startsWith('handover')) await pair.handOver()
    if (event === 'handover of a stalled engine') await stall(old, () => delay(15))
  }
  await fc.assert(
    fc.asyncProperty(conversation, (said) => isLikeOne(pair, control, said, happen)),
    {
      ...wanted,
      numRuns: times('byte-streams', 30),
      interruptAfterTimeLimit: times('byte-streams', 15_000),
    },
  )
  expect(pair.endpoint.report()).toMatchObject({ errors: 0, failedHolds: 0 })
})

test('the same when the old primary is killed as soon as the role has moved', {
  timeout: withinMs,
}, async () => {
  await using control = await startEngine(newest)
  const kill = async (said: Conversation) => {
    await using pair = await makePair(newest, newest)
    let isKilled = false
    await isLikeOne(pair, control, said, async () => {
      if (isKilled) return
      isKilled = true
      const old = pair.primary()
      await pair.handOver()
      old.process.kill('SIGKILL')
    })
  }
  await fc.assert(fc.asyncProperty(conversation, kill), { ...wanted, numRuns: times('byte-streams', 4) })
})
