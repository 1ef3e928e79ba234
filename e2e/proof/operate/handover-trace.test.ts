import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { type Action, ApiError, BUCKET_MS, type HandoverTrace, TAPE_LEAD_BUCKETS } from '@fairlead/api'
import { hashSlot } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()

/**
 * Requests that a client has sent one after the other, each with the times at which it was sent and answered,
 * in Unix milliseconds.
 */
type Ledger = { readonly sentMs: number; readonly gotMs: number }[]

/** Increments a key without a pause. Its answers must be the numbers from 1 on. */
async function count(to: { port: number; tls: boolean; password: string }, key: string, ledger: Ledger) {
  const at = { host: '127.0.0.1', port: to.port }
  const socket = to.tls ? connectTls({ ...at, rejectUnauthorized: false }) : connect({ ...at, noDelay: true })
  await once(socket, to.tls ? 'secureConnect' : 'connect')
  socket.setNoDelay(true)
  let isOver = false
  const ask = async (line: string) => {
    const sentMs = Date.now()
    socket.write(`${line}\r\n`)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    ledger.push({ sentMs, gotMs: Date.now() })
    return chunk.toString()
  }
  expect(await ask(`AUTH ${to.password}`)).toBe('+OK\r\n')
  const work = (async () => {
    for (let n = 1; !isOver; n += 1) expect(await ask(`INCR ${key}`)).toBe(`:${n}\r\n`)
  })()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await work.finally(() => socket.destroy())
    },
  }
}

async function traceOf({ api }: Fairlead, uid: string, n: number): Promise<HandoverTrace> {
  return await until(`trace ${n}`, () =>
    api.getHandoverTrace({ params: { uid, n } }).catch((cause: unknown) => {
      if (cause instanceof ApiError && cause.code === 'trace_not_ready') return undefined
      throw cause
    }),
  )
}

/**
 * The clock of a trace is that of the server, which orders the hold; the proxy holds a little later. The
 * difference is at most what the order and its answer took: everything that the trace counts happened in this
 * time after what its buckets say.
 */
function slackOf(trace: HandoverTrace, heldMs: number): number {
  return trace.marks.release.to - trace.marks.hold.from - heldMs
}

/**
 * A trace counts from one moment of the wall clock, by a clock that nothing sets; clients read the wall clock
 * each time. Times of it are whole, it may be set meanwhile, and a busy process reads it late. Two buckets.
 */
const CLOCKS_MS = 20

function expectAgreement(trace: HandoverTrace, certificate: Action['certificates'][number], ledger: Ledger) {
  const { marks, replies, held, bucket_ms: size } = trace
  const { phases, held_ms: heldMs } = certificate
  if (phases === null || heldMs === null) throw new Error('the certificate has no times')
  // The marks are the parts of the certificate, one after the other.
  for (const [name, ms] of Object.entries(phases)) {
    const { from, to } = marks[name as keyof typeof marks]
    expect(to - from).toBeCloseTo(ms, 1)
  }
  expect(marks.pause.from).toBeCloseTo(marks.hold.to, 1)
  const slack = slackOf(trace, heldMs)
  expect(slack).toBeGreaterThanOrEqual(-0.1)
  // No client got a reply between the end of the hold and the release.
  const silent = replies.filter(
    (_, n) => n * size >= marks.hold.to && (n + 1) * size <= marks.release.from - slack,
  )
  expect(silent.filter((count) => count > 0)).toEqual([])
  expect(Math.max(...held) > 0).toBe((certificate.requests_held ?? 0) > 0)
  // The client's own record: up to the end of each bucket the trace has all replies that clients had got, and
  // none to what was sent later.
  const t0 = Date.parse(trace.t0)
  const within = ledger.filter(({ sentMs }) => sentMs >= t0 + slack + CLOCKS_MS)
  let counted = 0
  for (const [n, more] of replies.entries()) {
    counted += more
    const end = t0 + (n + 1) * size
    const [least, most] = [
      within.filter(({ gotMs }) => gotMs < end - CLOCKS_MS).length,
      ledger.filter(({ gotMs, sentMs }) => gotMs >= t0 - CLOCKS_MS && sentMs <= end + slack + CLOCKS_MS)
        .length,
    ]
    expect([n, counted >= least, counted <= most]).toEqual([n, true, true])
  }
}

/** A trace begins so long before its handover. */
const LEAD_MS = TAPE_LEAD_BUCKETS * BUCKET_MS

/**
 * Upgrades a database while clients count, each in one of these keys. Answers the action, and the record of
 * each client.
 */
async function upgradeWhileCounting(
  fairlead: Fairlead,
  body: Parameters<Fairlead['api']['createDatabase']>[0]['body'],
  keys: readonly string[],
) {
  const { api } = fairlead
  const { uid, port, password } = await createDatabase(fairlead, { engine_version: from, ...body })
  const shards = await api.listDatabaseShards({ params: { uid } })
  const ledgers = keys.map((): Ledger => [])
  const place = { port, tls: body.tls_mode === 'enabled', password }
  await using clients = new AsyncDisposableStack()
  for (const [n, key] of keys.entries()) clients.use(await count(place, key, ledgers[n] ?? []))
  // A sharded endpoint has any group check a login. Traces of requests with keys alone are compared: no trace
  // may begin before the logins.
  await until('clients are served', () =>
    ledgers.every((ledger) => ledger.some(({ sentMs }) => sentMs > (ledger[0]?.gotMs ?? 0) + LEAD_MS)),
  )
  const { action_uid = '' } = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
  const action = await fairlead.untilEnded(action_uid)
  expect(action.status).toBe('completed')
  const last = await traceOf(fairlead, action_uid, action.certificates.length)
  expect(last.handover).toBe(action.certificates.length)
  await clients.disposeAsync()
  return { action, ledgers, shards }
}

test('the trace of a handover agrees with its certificate and with what clients saw, and outlives server and proxy', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
    env: {
      FAIRLEAD_PROXY_WORKERS: '2',
      // So long that several buckets are silent.
      SLOW_WHEN: 'before demote',
    },
  })
  const keys = Array.from({ length: 8 }, (_, n) => `key-${n}`)
  const { action, ledgers } = await upgradeWhileCounting(fairlead, { name: 'traced', memory_size: 0 }, keys)
  const [certificate] = action.certificates
  if (certificate === undefined) throw new Error('there is no certificate')
  const trace = await traceOf(fairlead, action.action_uid, 1)
  expectAgreement(trace, certificate, ledgers.flat())
  expect(trace.errors.filter((count) => count > 0)).toEqual([])

  const identity = JSON.parse(await readFile(join(fairlead.home, 'proxy', 'process.json'), 'utf8'))
  process.kill((identity as { identity: { pid: number } }).identity.pid, 'SIGKILL')
  await fairlead.server.end('SIGKILL')
  await fairlead.server.start()
  expect(await traceOf(fairlead, action.action_uid, 1)).toEqual(trace)
})

test('each group of a sharded database has its trace, over TLS too', async () => {
  await using fairlead = await startFairlead()
  const keys = Array.from({ length: 9 }, (_, n) => `key-${n}`)
  const body = { name: 'sharded', memory_size: 0, shards_count: 3, tls_mode: 'enabled' } as const
  const { action, ledgers, shards } = await upgradeWhileCounting(fairlead, body, keys)
  expect(action.certificates.length).toBe(3)
  for (const [n, certificate] of action.certificates.entries()) {
    const slots = shards.find(({ uid }) => uid === certificate.from)?.assigned_slots ?? ''
    const [first = 0, last = 0] = slots.split('-').map(Number)
    const ofGroup = ledgers.filter((_, k) => {
      const slot = hashSlot(Buffer.from(keys[k] ?? ''))
      return first <= slot && slot <= last
    })
    const trace = await traceOf(fairlead, action.action_uid, n + 1)
    expect([trace.group, trace.from]).toEqual([certificate.group, certificate.from])
    expectAgreement(trace, certificate, ofGroup.flat())
  }
})
