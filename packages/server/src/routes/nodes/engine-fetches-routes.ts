import { type BuildFetch, type EngineFetch, fetchEngineVersion, listEngineFetches } from '@fairlead/api'
import { actorOf } from '../../core/identity/access.ts'
import type { Mount } from '../../http/mount.ts'
import type { AuditCounter } from '../../identity/audit/audit-counter.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'

/** Serves fetches of engine builds. A request is recorded before the agent begins: none is missing then. */
export function engineFetchesRoutes(
  mount: Mount,
  nodes: Pick<Nodes, 'startFetch' | 'fetches'>,
  counter: Pick<AuditCounter, 'record'>,
): void {
  mount(fetchEngineVersion, async ({ body }, caller) => {
    const { engine, engine_version, also_unstable = false } = body
    const version = engine_version !== undefined && { version: engine_version }
    const details = { engine, ...version, also_unstable }
    await counter.record({ type: 'engine_fetch_requested', by: actorOf(caller), details })
    const wanted = { flavour: engine, version: engine_version ?? null, alsoUnstable: also_unstable }
    return toWire(await nodes.startFetch(wanted))
  })

  mount(listEngineFetches, async () => (await nodes.fetches()).map(toWire))
}

function toWire(fetch: BuildFetch): EngineFetch {
  const { build, fault } = fetch
  return {
    fetch_uid: fetch.id,
    engine: fetch.flavour,
    engine_version: fetch.version,
    also_unstable: fetch.alsoUnstable,
    state: fetch.state,
    progress: fetch.line,
    fetched: build && {
      engine: build.flavour,
      engine_version: build.version,
      ...(build.suite !== undefined && { suite: build.suite }),
    },
    fault: fault && { code: fault.code, message: fault.why },
    started_time: new Date(fetch.startedAt).toISOString(),
    ended_time: fetch.endedAt === null ? null : new Date(fetch.endedAt).toISOString(),
  }
}
