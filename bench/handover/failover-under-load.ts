import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { EngineConnection } from '@fairlead/engine'
import { readReplication } from '@fairlead/engine'
import { nowUnixMs, startLoad } from '@fairlead/ledger'
import { asAdmin } from '../../proof/roles.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'

/**
 * The engine's own FAILOVER under the load of the bench: the gaps that clients saw, in ms. Fairlead only
 * starts the engines; its server is stopped, so that it does not interfere, and clients ask a stand-in that
 * watches the roles.
 */
export async function failoverUnderLoad({
  build,
  times,
}: {
  readonly build: string
  readonly times: number
}): Promise<readonly number[]> {
  await using fairlead = await startFairlead()
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'failover', memory_size: 0, replication: true, engine_version: build },
  })
  await fairlead.untilEnded(action_uid)
  const { authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({ params: { uid } })
  using first = await asAdmin(fairlead, 1)
  using second = await asAdmin(fairlead, 2)
  await fairlead.server.end('SIGTERM')

  await using roles = await watchRoles([first, second])
  await using load = await startLoad({ kind: 'set', password, lookup: { url: roles.url, token: 'none' } })
  const gaps: number[] = []
  let [from, to] = [first, second]
  for (let time = 0; time < times; time++) {
    await load.untilAcked(load.acked() + 20_000)
    await until('the replica is online', async () =>
      (await from.info('replication')).includes('state=online'),
    )
    const began = nowUnixMs()
    // With TLS, the replica is known by the port that it has announced to its primary.
    const port = readReplication(await from.info('replication')).replicas[0]?.port ?? 0
    await from.call('FAILOVER', 'TO', to.address.host, port, 'TIMEOUT', 10_000)
    await until(
      'the replica is the primary',
      async () => readReplication(await to.info('replication')).role === 'primary',
    )
    await load.untilAcked(load.acked() + 20_000)
    gaps.push(await load.longestGapMs({ fromMs: began - 250, toMs: nowUnixMs() }))
    ;[from, to] = [to, from]
  }
  const report = await load.stop()
  if (report.unknown > 0) process.stderr.write(`${report.unknown} writes have an unknown outcome\n`)
  return gaps
}

/** Answers as the API does, from the roles of the engines, which are asked about every millisecond. */
async function watchRoles(
  engines: readonly EngineConnection[],
): Promise<AsyncDisposable & { readonly url: string }> {
  let primary = engines[0]
  const stop = new AbortController()
  const watching = (async () => {
    while (!stop.signal.aborted) {
      for (const engine of engines) {
        if (readReplication(await engine.info('replication')).role === 'primary') primary = engine
      }
      await pause(1)
    }
  })()
  const server = createServer((_, response) => {
    const { host = '', port = 0 } = primary?.address ?? {}
    response.end(JSON.stringify({ endpoints: [{ addr: [host], port }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1/bdbs/1`,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await watching
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
