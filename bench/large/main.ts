import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connectEngine, numberOf, readInfo } from '@fairlead/engine'
import { asAdmin, specOf } from '../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'

/**
 * Upgrades one large database while clients write to it as fast as the machine allows: --gb of data in values of 64 KB, --writers
 * connections that overwrite --hot-mb of them. Needs about three times the data in memory. Prints one line a second, and the end.
 */
const { values } = parseArgs({
  options: {
    gb: { type: 'string', default: '4' },
    writers: { type: 'string', default: '4' },
    'hot-mb': { type: 'string', default: '256' },
    from: { type: 'string', default: 'valkey-8.0' },
    to: { type: 'string', default: 'valkey-8.1' },
    'within-s': { type: 'string', default: '600' },
  },
})
const VALUE = 'v'.repeat(64 * 1024)
const MB = 1024 * 1024

await using fairlead = await startFairlead()
const { uid, action_uid } = await fairlead.api.createDatabase({
  body: { name: 'large', memory_size: 0, engine_version: values.from },
})
await fairlead.untilEnded(action_uid)
await fill(fairlead, (Number(values.gb) * 1024 * MB) / VALUE.length)

const ended = new AbortController()
const hot = (Number(values['hot-mb']) * MB) / VALUE.length
const writing = Array.from({ length: Number(values.writers) }, () => overwrite(uid, hot, ended.signal))
await pause(2_000)
const watching = watch(ended.signal)
const began = performance.now()
const { action_uid: upgrade } = await fairlead.api.upgradeDatabase({
  params: { uid },
  body: { engine_version: values.to },
})
const action = await fairlead
  .untilEnded(upgrade, Number(values['within-s']) * 1_000)
  .catch((error: Error) => error)
const seconds = Math.round((performance.now() - began) / 1_000)
ended.abort()
const writes = (await Promise.all(writing)).reduce((sum, count) => sum + count, 0)
const seen = await watching
print({
  ended:
    action instanceof Error
      ? action.message
      : { status: action.status, error: action.error, certificates: action.certificates },
  seconds,
  acknowledged: writes,
  ...seen,
})

async function fill({ home }: Fairlead, count: number): Promise<void> {
  const { host, port, adminPassword: password } = specOf(home, 1)
  using admin = await connectEngine({
    address: { host, port },
    login: { username: 'fairlead', password },
    commandTimeoutMs: 60_000,
  })
  for (let n = 0; n < count; n += 64)
    await Promise.all(Array.from({ length: 64 }, (_, k) => admin.call('SET', `key:${n + k}`, VALUE)))
}

/** Writes through the endpoint, 16 requests at a time. Answers how many were acknowledged. */
async function overwrite(database: number, keys: number, signal: AbortSignal): Promise<number> {
  const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid: database },
  })
  const [{ port = 0 } = {}] = endpoints
  using client = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'default', password },
    commandTimeoutMs: 120_000,
  })
  let count = 0
  while (!signal.aborted) {
    const some = Array.from({ length: 16 }, () =>
      client.call('SET', `key:${Math.floor(Math.random() * keys)}`, VALUE),
    )
    for (const each of await Promise.allSettled(some)) count += each.status === 'fulfilled' ? 1 : 0
  }
  return count
}

/** Prints the state of the old primary once a second, until `signal` aborts. */
async function watch(
  signal: AbortSignal,
): Promise<{ peakBufferMb: number; peakWrittenMbPerSecond: number; fullSyncs: number }> {
  let [peakBufferMb, peakWrittenMbPerSecond, fullSyncs, offset] = [0, 0, 0, 0]
  while (!signal.aborted) {
    await pause(1_000)
    try {
      using admin = await asAdmin(fairlead, 1)
      const fields = readInfo(await admin.info())
      const now = numberOf(fields, 'master_repl_offset')
      const written = offset === 0 ? 0 : (now - offset) / MB
      offset = now
      peakBufferMb = Math.max(peakBufferMb, Math.round(numberOf(fields, 'mem_clients_slaves') / MB))
      peakWrittenMbPerSecond = Math.max(peakWrittenMbPerSecond, Math.round(written))
      fullSyncs = numberOf(fields, 'sync_full')
      print({
        bufferMb: Math.round(numberOf(fields, 'mem_clients_slaves') / MB),
        writtenMb: Math.round(written),
        fullSyncs,
      })
    } catch {
      // The old primary has ended, or is busy: the next look shows which.
    }
  }
  return { peakBufferMb, peakWrittenMbPerSecond, fullSyncs }
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
