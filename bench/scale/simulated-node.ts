import { createHash } from 'node:crypto'
import type { EndpointReport, EndpointSpec, ShardReport, ShardSpec } from '@fairlead/api'
import type { ChangeLog } from '../../packages/agent/src/shards/changes.ts'
import { nothingYet } from '../../packages/proxy/src/program/wanted-endpoints.ts'

/** A database of one shard that is on record, and whose engine is simulated. */
export interface SimulatedShard {
  readonly shard: number
  readonly databaseUid: number
  readonly host: string
  readonly port: number
}

/** How long a simulated process takes to come up. */
const COMES_UP_IN_MS = 300

/**
 * All shards are like `template`, the report of a real one; `onThere` is called with each new shard that has
 * just started. Differences are reported to `changes`.
 */
export function createSimulatedShards(
  template: ShardReport,
  changes: Pick<ChangeLog, 'shard' | 'gone'>,
  onThere: (shard: string, at: number) => void,
) {
  const kept = keepText<ShardReport>()
  const shards = {
    ...kept,
    set(id: string, report: ShardReport): void {
      kept.set(id, report)
      changes.shard(id, JSON.stringify(report))
    },
    remove(id: string): void {
      kept.remove(id)
      changes.gone(id)
    },
  }
  return {
    add({ shard, host, port }: SimulatedShard): void {
      const id = `s${shard}`
      shards.set(id, { ...template, id, host, port, pid: pidOf(id), certificate: null })
    },
    has: shards.has,
    get: shards.get,
    /** A new shard starts some time later. */
    put(id: string, { revision, build, host, port, memoryBytes, evictionPolicy }: ShardSpec): void {
      const before = shards.get(id)
      const wanted = { revision, build, host, port, memoryBytes, evictionPolicy }
      if (before !== undefined) {
        shards.set(id, { ...before, ...wanted })
        return
      }
      const report = { ...template, ...wanted, id, pid: pidOf(id), certificate: null, startedAt: Date.now() }
      shards.set(id, { ...report, state: 'starting' })
      setTimeout(() => {
        shards.set(id, report)
        onThere(id, Date.now())
      }, COMES_UP_IN_MS)
    },
    remove: shards.remove,
    text: shards.text,
  }
}

/** Endpoints that a proxy is given, and that serve no client. */
export function createSimulatedEndpoints() {
  const endpoints = keepText<EndpointReport | null>()
  return {
    /** Not yet put. */
    add: (id: string) => endpoints.set(id, null),
    has: endpoints.has,
    get: endpoints.get,
    put(id: string, { host, port, upstream, shards: routes }: EndpointSpec): EndpointReport {
      const place = { id, host, port, upstream, shards: routes }
      const report: EndpointReport = { ...place, ...nothingYet, state: 'serving', why: '' }
      endpoints.set(id, report)
      return report
    },
    remove: endpoints.remove,
    text: endpoints.text,
  }
}

/**
 * Values by name, and the JSON list of all of them. The list is written again only when a value has changed,
 * because it may be requested often.
 */
function keepText<Value>() {
  const values = new Map<string, Value>()
  let text: string | undefined
  return {
    has: (id: string) => values.has(id),
    get: (id: string) => values.get(id),
    set(id: string, value: Value): void {
      values.set(id, value)
      text = undefined
    },
    remove(id: string): void {
      values.delete(id)
      text = undefined
    },
    text(): string {
      text ??= [...values.values()]
        .filter((one) => one !== null)
        .map((one) => JSON.stringify(one))
        .join()
      return text
    },
  }
}

/** Above all process ids that Linux uses. */
function pidOf(id: string): number {
  return 4_194_304 + Number(id.slice(1))
}

/** Run and replication ids. The same words give the same id in all processes of a measurement. */
export function idOf(...words: readonly (string | number)[]): string {
  return createHash('sha1').update(words.join(' ')).digest('hex')
}
