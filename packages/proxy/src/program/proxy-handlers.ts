import { type Address, BUCKET_MS, type EndpointSpec, Refusal } from '@fairlead/api/of-proxies'
import { isSameAddress, type RunExclusive } from '@fairlead/engine'
import { whyUnreachable } from '../handover/why-unreachable.ts'
import { addressesOf } from '../listen/addresses-of.ts'
import type { Log } from '../listen/cut-log.ts'
import { checkTls } from '../listen/listen.ts'
import type { Sentinel } from '../sentinel/sentinel.ts'
import type { ProxyHandlers } from './control.ts'
import type { Saving } from './save-wanted.ts'
import type { WantedEndpoints } from './wanted-endpoints.ts'

interface Parts {
  readonly endpoints: WantedEndpoints
  readonly saving: Saving
  readonly runExclusive: RunExclusive
  /** Null if this proxy does not answer as a Sentinel. */
  readonly sentinel: Sentinel | null
  /** Address of the Sentinel answerer. */
  readonly sentinelAt: Address
  readonly log: Log
}

/** Creates the handlers for the server's orders. Orders that change wanted endpoints run in sequence. */
export function createProxyHandlers(parts: Parts): ProxyHandlers {
  const { endpoints, sentinel, sentinelAt } = parts
  const { find } = endpoints
  return {
    reportProxy: async ({ query: { most } }) => ({
      pid: process.pid,
      rssBytes: process.memoryUsage.rss(),
      endpoints: await Promise.all(
        [...endpoints.wanted.keys()].toSorted().slice(0, most).map(endpoints.report),
      ),
      sentinel: sentinel?.report() ?? { ...sentinelAt, ...noSentinel },
    }),
    reportTraffic: async () => ({ endpoints: [...(await endpoints.traffic())] }),
    putEndpoint: async ({ params: { id }, body }) => {
      await putEndpoint(id, body, parts)
      return endpoints.report(id)
    },
    removeEndpoint: async ({ params: { id } }) => {
      await removeEndpoint(id, parts)
      return { id }
    },
    holdEndpoint: ({ params: { id }, body: { deadlineMs, drainMs, slot } }) =>
      find(id).hold({
        deadlineMs,
        ...(drainMs !== undefined && { drainMs }),
        ...(slot !== undefined && { slot }),
      }),
    giveUpBlocked: async ({ params: { id }, body: { slot } }) => ({
      addresses: [...(await find(id).blocked(slot))],
    }),
    prepareEndpoint: async ({ params: { id }, body: { upstream, slot } }) => {
      const endpoint = find(id)
      const { upstreamTls: tls } = endpoint.wanted
      const isNeedless = (await endpoint.report()).connections === 0
      const [prepared, unreachable] = await Promise.all([
        endpoint.prepare(upstream, slot),
        isNeedless ? undefined : whyUnreachable({ ...upstream, tls }),
      ])
      return { prepared, unreachable: unreachable ?? null }
    },
    takeScripts: async ({ params: { id }, body: { upstream, all } }) => find(id).takeScripts(upstream, all),
    switchEndpoint: ({ params: { id }, body }) => switchTo(id, body.upstream, body.slot, parts),
    releaseEndpoint: async ({ params: { id }, body: { slot } }) => {
      await find(id).release(slot)
      return endpoints.report(id)
    },
    readTape: async ({ params: { id }, query: { slot } }) => {
      const tape = await find(id).readTape(slot)
      if (tape === null) return { tape }
      const { first, beganMs, heldMs, replies, held, errors } = tape
      const counts = { replies: [...replies], held: [...held], errors: [...errors] }
      return { tape: { leadMs: beganMs - first * BUCKET_MS, heldMs, ...counts } }
    },
    listClients: async ({ params: { id }, query }) => find(id).clients(query),
  }
}

async function putEndpoint(id: string, body: EndpointSpec, parts: Parts): Promise<void> {
  const { endpoints, saving, runExclusive, sentinel } = parts
  for (const { tls } of [body, ...(body.former ?? [])]) if (tls !== null) checkTls(tls)
  await runExclusive(async () => {
    const before = endpoints.wanted.get(id)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(body)) {
      if (!saving.isSaved) await saving.save()
      return endpoints.start(id)
    }
    endpoints.wanted.set(id, body)
    await saving.save()
    if (before !== undefined && !servesAlike(before, body)) await endpoints.stop(id)
    const { passwords } = body
    if (passwords !== undefined && passwords.join() !== before?.passwords?.join())
      await endpoints.get(id)?.endLogins(passwords)
    await endpoints.get(id)?.know(addressesOf(body))
    await endpoints.start(id)
    sentinel?.look()
  })
  const endpoint = endpoints.get(id)
  if (endpoint === undefined) throw new Refusal('unavailable', `it cannot listen: ${endpoints.whyNot(id)}`)
  for (const { upstream, slot } of moved(endpoint.wanted, body)) await switchTo(id, upstream, slot, parts)
}

function removeEndpoint(id: string, { endpoints, saving, runExclusive, sentinel }: Parts): Promise<void> {
  return runExclusive(async () => {
    endpoints.wanted.delete(id)
    await saving.save()
    await endpoints.stop(id)
    sentinel?.look()
  })
}

async function switchTo(
  id: string,
  upstream: Address,
  slot: number | undefined,
  { endpoints, saving, sentinel, log }: Parts,
) {
  const endpoint = endpoints.find(id)
  const result = await endpoint.switchTo(upstream, slot)
  sentinel?.look()
  const spec = endpoints.wanted.get(id)
  // The order does not wait for the disk: a proxy killed before the write starts with the old upstream, until
  // the server sends the endpoint again.
  const { upstream: first, shards } = endpoint.wanted
  if (spec !== undefined) endpoints.wanted.set(id, { ...spec, upstream: first, shards })
  saving.saveSoon()
  log('endpoint re-pointed', { id, to: `${upstream.host}:${upstream.port}`, ...result })
  return result
}

const noSentinel = { state: 'off', why: '', connections: 0, databases: 0 } as const

/**
 * True if connections may stay: another upstream moves them, other places are for new clients, and the
 * Sentinel answerer does not concern them.
 */
function servesAlike(before: EndpointSpec, after: EndpointSpec): boolean {
  const own = ({ host, shards, upstreamTls }: EndpointSpec) => {
    // Compares the ranges of the groups, not their addresses.
    const groupOf = (at: Address) => shards?.findIndex(({ upstream }) => isSameAddress(upstream, at))
    const ranges = shards?.map(({ first, last, upstream }) => [first, last, groupOf(upstream)]) ?? null
    return JSON.stringify({ host, upstreamTls, shards: ranges })
  }
  return own(before) === own(after)
}

/** Returns the switches that turn `now` into `spec`, which differs only in upstreams. */
function moved(
  now: EndpointSpec,
  spec: EndpointSpec,
): readonly { readonly upstream: EndpointSpec['upstream']; readonly slot?: number }[] {
  if (spec.shards === null)
    return isSameAddress(spec.upstream, now.upstream) ? [] : [{ upstream: spec.upstream }]
  return spec.shards
    .filter(({ upstream }, n) => !isSameAddress(upstream, now.shards?.[n]?.upstream))
    .map(({ upstream, first }) => ({ upstream, slot: first }))
}
