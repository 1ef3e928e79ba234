import { type EndpointReport, type EndpointSpec, Refusal, type Traffic } from '@fairlead/api/of-proxies'
import { messageOf } from '@fairlead/engine'
import type { Log } from '../listen/cut-log.ts'
import { whyItCannotListen } from '../listen/why-it-cannot-listen.ts'
import type { EndpointHost, HostedEndpoint } from '../workers/endpoint-host.ts'
import { createListeningPlaces } from './listening-places.ts'

/** The endpoints that a proxy should serve, the open ones, and reasons for the others. */
export interface WantedEndpoints extends AsyncDisposable {
  readonly wanted: Map<string, EndpointSpec>
  /** Returns the open endpoint, or undefined. */
  get(id: string): HostedEndpoint | undefined
  /** Returns the open endpoint; throws Refusal not_found with the reason if it is not open. */
  find(id: string): HostedEndpoint
  /**
   * Opens a wanted endpoint that is not open, and listens at exactly its places. Never rejects:
   * `whyNot` returns the error.
   */
  start(id: string): Promise<void>
  /** Closes the endpoint with its connections, if open. */
  stop(id: string): Promise<void>
  /** Returns the wanted endpoints that could not be opened. */
  failed(): Iterable<string>
  /** Returns the open endpoints that cannot listen at all their places. */
  incomplete(): Iterable<string>
  whyNot(id: string): string | undefined
  /** Reports the endpoint's state, and why it is not open. Throws Refusal not_found if it is not wanted. */
  report(id: string): Promise<EndpointReport>
  /** Returns the traffic of open endpoints that have, or had, a client. */
  traffic(): Promise<readonly Traffic[]>
}

/** Starts with all of `wanted` closed. Dispose to close the open ones. */
export function createWantedEndpoints(
  wanted: Map<string, EndpointSpec>,
  host: EndpointHost,
  log: Log,
): WantedEndpoints {
  const open = new Map<string, HostedEndpoint>()
  const failures = new Map<string, Failure>()
  const listening = createListeningPlaces(log)
  const openNew = async (id: string, spec: EndpointSpec) => {
    const endpoint = await host.open(id, spec)
    open.set(id, endpoint)
    failures.delete(id)
    log('endpoint listens', { id, port: spec.port })
    return endpoint
  }
  return {
    wanted,
    get: (id) => open.get(id),
    find(id) {
      const endpoint = open.get(id)
      if (endpoint === undefined)
        throw new Refusal('not_found', failures.get(id)?.why ?? `there is no endpoint ${id}`)
      return endpoint
    },
    async start(id) {
      const spec = wanted.get(id)
      if (spec === undefined) return
      try {
        const endpoint = open.get(id) ?? (await openNew(id, spec))
        await listening.listen(id, spec, endpoint)
      } catch (cause) {
        const why = await whyItCannotListen(spec, cause)
        const error = messageOf(cause)
        if (failures.get(id)?.error !== error) log('endpoint cannot listen', { id, why })
        failures.set(id, { error, why })
      }
    },
    async stop(id) {
      const endpoint = open.get(id)
      open.delete(id)
      failures.delete(id)
      listening.forget(id)
      await endpoint?.[Symbol.asyncDispose]()
    },
    failed: () => failures.keys(),
    incomplete: listening.incomplete,
    whyNot: (id) => failures.get(id)?.why,
    async report(id) {
      const endpoint = open.get(id)
      if (endpoint === undefined) return reportUnopened(id, wanted.get(id), failures.get(id)?.why)
      const { isHeld, traffic: _, ...rest } = await endpoint.report()
      const missing = listening.missingOf(id)
      return {
        id,
        ...rest,
        state: isHeld ? 'held' : 'serving',
        why: '',
        ...(missing.length > 0 && { missing: [...missing] }),
      }
    },
    async traffic() {
      const views = await Promise.all(
        [...open].map(async ([id, endpoint]) => ({ id, ...(await endpoint.report()) })),
      )
      return views.flatMap(trafficOf)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...open.values()].map((endpoint) => endpoint[Symbol.asyncDispose]()))
    },
  }
}

type View = Awaited<ReturnType<HostedEndpoint['report']>> & { readonly id: string }

/** Returns the traffic of an endpoint that has, or had, a client. */
function trafficOf({ id, connections, commands, traffic }: View): Traffic[] {
  if (connections + commands === 0) return []
  const { commands: requests, latencies, ...rest } = traffic
  const latencyUs = Math.round(rest.latencyUs)
  return [{ id, connections, requests, latencies: [...latencies], ...rest, latencyUs }]
}

interface Failure {
  /** Logged once. */
  readonly error: string
  /** The error, with the user that listens there if one is found. */
  readonly why: string
}

function reportUnopened(
  id: string,
  spec: EndpointSpec | undefined,
  why = 'it is being opened',
): EndpointReport {
  if (spec === undefined) throw new Refusal('not_found', `there is no endpoint ${id}`)
  const { host, port, upstream, shards } = spec
  return { id, host, port, upstream, shards, ...nothingYet, state: 'failed', why }
}

/** Report of an endpoint that has not done any work. */
export const nothingYet = {
  connections: 0,
  commands: 0,
  heldMsTotal: 0,
  heldMsLast: 0,
  repoints: 0,
  failedHolds: 0,
  behind: [],
  errors: 0,
  lastError: '',
}
