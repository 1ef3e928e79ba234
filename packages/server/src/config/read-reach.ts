import { networkInterfaces } from 'node:os'
import { type EndpointReach, type OwnAddress, reachOf } from '../core/state/endpoint-reach.ts'
import type { Config } from './config.ts'

/** Addresses of a machine change rarely, and each answer about a database shows them. */
const KEPT_MS = 2_000

/** Returns a function for the present reach of endpoints, at most some seconds old. */
export function createReach(
  { endpointAddresses: wanted, endpointSuffix: suffix }: Pick<Config, 'endpointAddresses' | 'endpointSuffix'>,
  now: () => number,
): () => EndpointReach {
  let last: { readonly atMs: number; readonly reach: EndpointReach } | undefined
  return () => {
    if (last === undefined || Math.abs(now() - last.atMs) >= KEPT_MS)
      last = { atMs: now(), reach: reachOf({ wanted, suffix }, ownAddresses()) }
    return last.reach
  }
}

function ownAddresses(): readonly OwnAddress[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address, internal, scopeid = 0 }) => ({ address, isLocal: internal || scopeid !== 0 }))
}
