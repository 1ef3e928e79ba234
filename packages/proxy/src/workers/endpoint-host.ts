import type {
  Address,
  ClientList,
  EndpointSpec,
  HoldResult,
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
import { openShardedEndpoint } from '../sharded/sharded-endpoint.ts'
import type { TapePart } from '../traffic/recording.ts'

/** Opens endpoints: in this thread, or in several others. */
export interface EndpointHost extends AsyncDisposable {
  /** Throws when it cannot listen. Disposing of the endpoint closes it. */
  open(id: string, wanted: EndpointSpec): Promise<HostedEndpoint>
}

/** An endpoint, in whatever thread its connections are. Everything except `wanted` throws a refusal when a thread does not answer. */
export interface HostedEndpoint extends AsyncDisposable {
  /** Its spec, with the upstreams that it has now. */
  readonly wanted: EndpointSpec
  know(addresses: readonly Address[]): void | Promise<void>
  prepare(upstream: EndpointSpec['upstream'], slot?: number): Promise<number>
  blocked(slot?: number): readonly string[] | Promise<readonly string[]>
  hold(times: HoldTimes): Promise<HoldResult>
  switchTo(upstream: EndpointSpec['upstream'], slot?: number): Promise<SwitchResult>
  /** The scripts that this engine has not been told of yet, or all scripts. */
  takeScripts(engine: EndpointSpec['upstream'], all: boolean): TakenScripts | Promise<TakenScripts>
  release(slot?: number): void | Promise<void>
  /** New clients are shown this certificate. */
  renewTls(tls: NonNullable<EndpointSpec['tls']>): void | Promise<void>
  /** What was counted around the last handover; null: there was none lately. */
  readTape(slot?: number): TapePart | null | Promise<TapePart | null>
  report(): EndpointView | Promise<EndpointView>
  clients(query: ClientQuery): ClientList | Promise<ClientList>
}

/** Opens them in this thread. */
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
