import type {
  Address,
  ClientList,
  EndpointSpec,
  HoldResult,
  MissingAddress,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api/of-proxies'
import {
  type Endpoint,
  type EndpointOptions,
  type EndpointView,
  type HoldTimes,
  openEndpoint,
} from '../endpoint/endpoint.ts'
import { createCutLog, type Log } from '../listen/cut-log.ts'
import type { ClientQuery } from '../listen/list-clients.ts'
import type { Places } from '../listen/places.ts'
import { openShardedEndpoint } from '../sharded/sharded-endpoint.ts'
import type { TapePart } from '../traffic/recording.ts'

/** Opens endpoints in this thread or in several others. */
export interface EndpointHost extends AsyncDisposable {
  /** Throws if it cannot listen. Dispose of the endpoint to close it. */
  open(id: string, wanted: EndpointSpec): Promise<HostedEndpoint>
}

/** An endpoint, in one or several threads. Members except `wanted` throw a Refusal if a thread hangs. */
export interface HostedEndpoint extends AsyncDisposable {
  /** Spec of the endpoint, with its present upstreams. */
  readonly wanted: EndpointSpec
  /** Listens at exactly these places, and closes clients of others gradually. Returns where it cannot. */
  listenAt(places: Places): Promise<readonly MissingAddress[]>
  /** Closes clients of `default` gradually that signed in with a password that has none of these digests. */
  endLogins(valid: readonly string[]): void | Promise<void>
  know(addresses: readonly Address[]): void | Promise<void>
  prepare(upstream: EndpointSpec['upstream'], slot?: number): Promise<number>
  blocked(slot?: number): readonly string[] | Promise<readonly string[]>
  hold(times: HoldTimes): Promise<HoldResult>
  switchTo(upstream: EndpointSpec['upstream'], slot?: number): Promise<SwitchResult>
  /** Returns the scripts that this engine does not have yet, or all. */
  takeScripts(engine: EndpointSpec['upstream'], all: boolean): TakenScripts | Promise<TakenScripts>
  release(slot?: number): void | Promise<void>
  /** Returns the counts around the last handover; null if none was recent. */
  readTape(slot?: number): TapePart | null | Promise<TapePart | null>
  report(): EndpointView | Promise<EndpointView>
  clients(query: ClientQuery): ClientList | Promise<ClientList>
}

/** Opens endpoints in this thread. */
export function createHost(
  options: Pick<EndpointOptions, 'admission' | 'generations'>,
  log: Log,
): EndpointHost {
  return {
    open: (id, wanted) => openLogged(id, wanted, options, log),
    // The caller that opens an endpoint also closes it.
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/** Opens an endpoint, sharded or not, and logs the clients that it closes. */
export async function openLogged(
  id: string,
  wanted: EndpointSpec,
  options: EndpointOptions,
  log: Log,
): Promise<Endpoint> {
  const cuts = createCutLog(id, log)
  const open = wanted.shards === null ? openEndpoint : openShardedEndpoint
  const endpoint = await open(wanted, { ...options, name: id, onCut: cuts.note })
  return {
    ...endpoint,
    // Not copied: a copy would keep the present upstreams.
    get wanted() {
      return endpoint.wanted
    },
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]()
      cuts[Symbol.dispose]()
    },
  }
}
