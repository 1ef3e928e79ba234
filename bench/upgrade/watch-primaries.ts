import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { BenchEngine } from './start-engines.ts'

/** A primary and its replica, as they were started. `slots` is "" without sharding. */
export interface BenchGroup {
  readonly slots: string
  readonly old: BenchEngine
  readonly successor: BenchEngine
}

/** Stands in for the API: `<url>` names the first group's primary, `<url>/shards` all shards. */
export interface PrimariesWatch extends AsyncDisposable {
  readonly url: string
  primaryOf(group: BenchGroup): BenchEngine
}

/**
 * Looks at the roles about every millisecond. Of two primaries it names the one that was promoted last. This
 * favours the engines' own procedures: clients learn of a promotion as early as possible.
 */
export async function watchPrimaries(groups: readonly BenchGroup[]): Promise<PrimariesWatch> {
  const primaries = new Map(groups.map((group) => [group, group.old]))
  const roles = new Map(
    groups.flatMap(({ old, successor }) => [[old, 'primary'] as const, [successor, 'replica'] as const]),
  )
  const stop = new AbortController()
  const look = async (group: BenchGroup, engine: BenchEngine) => {
    const { role } = await engine.replication()
    if (role === 'primary' && roles.get(engine) === 'replica') primaries.set(group, engine)
    roles.set(engine, role)
  }
  const watching = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all(groups.flatMap((group) => [look(group, group.old), look(group, group.successor)]))
      await pause(1)
    }
  })()
  // Disposing of the watch throws this error. Until then the watch answers what it saw last.
  watching.catch(() => undefined)
  const primaryOf = (group: BenchGroup) => primaries.get(group) ?? group.old

  const server = await serve(groups, primaryOf)
  return {
    url: server.url,
    primaryOf,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await server[Symbol.asyncDispose]()
      await watching
    },
  }
}

async function serve(
  groups: readonly BenchGroup[],
  primaryOf: PrimariesWatch['primaryOf'],
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url = '' }, response) => {
    const [first] = groups
    const { host, port } = first ? primaryOf(first) : { host: '', port: 0 }
    const answer = url.endsWith('/shards')
      ? groups.flatMap((group) => describe(group, primaryOf(group)))
      : { endpoints: [{ addr: [host], port }] }
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1/bdbs/1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function describe({ slots, old, successor }: BenchGroup, primary: BenchEngine) {
  return [old, successor].map((engine) => ({
    uid: String(engine.port),
    role: engine === primary ? 'master' : 'slave',
    assigned_slots: slots,
    port: engine.port,
  }))
}
