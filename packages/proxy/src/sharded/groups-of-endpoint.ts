import {
  type Address,
  type EndpointShard,
  type EndpointSpec,
  type HoldResult,
  Refusal,
} from '@fairlead/api/of-proxies'
import { isSameAddress, SLOTS } from '@fairlead/engine'
import type { Upstream } from '../endpoint/upstream.ts'
import { firstNotDrained } from '../handover/first-not-drained.ts'
import type { EndpointStats } from '../listen/endpoint-stats.ts'
import { DEFAULT_GROUP } from './backends.ts'

/**
 * The groups of a sharded database, each with an upstream. Orders name a group by a slot of its wanted range,
 * even if the slot has moved.
 */
export interface GroupsOfEndpoint {
  readonly upstreams: readonly Upstream[]
  /** Map from slot to the group's index in `upstreams`. */
  readonly slots: Uint16Array
  /** Throws a Refusal if no group has the slot. */
  upstreamOf(slot: number): Upstream
  /** Returns the group of a slot; without a slot, all groups. */
  concerned(slot: number | undefined): readonly Upstream[]
  /** Returns the first slot of the group with this index. */
  firstSlotOf(group: number): number
  /** Returns the wanted ranges with the present addresses. */
  shardsNow(): EndpointShard[]
  /** Returns the present address of the first group. */
  home(): Address
}

/** Throws a Refusal unless each slot is in exactly one range. */
export function createGroups(
  wanted: EndpointSpec,
  createOne: (address: Address) => Upstream,
): GroupsOfEndpoint {
  const ranges = wanted.shards ?? []
  const upstreams = distinctUpstreams(ranges).map(createOne)
  const groups = ranges.map(({ upstream }) =>
    upstreams.findIndex(({ address }) => isSameAddress(address, upstream)),
  )
  const upstreamOf = (slot: number): Upstream => {
    const range = ranges.findIndex(({ first, last }) => first <= slot && slot <= last)
    const upstream = upstreams[groups[range] ?? -1]
    if (upstream === undefined) throw new Refusal('not_found', `no group has the slot ${slot}`)
    return upstream
  }
  return {
    upstreams,
    slots: slotsOf(ranges, groups),
    upstreamOf,
    concerned: (slot) => (slot === undefined ? upstreams : [upstreamOf(slot)]),
    firstSlotOf: (group) => ranges[groups.indexOf(group)]?.first ?? 0,
    shardsNow: () =>
      ranges.map(({ first, last }, n) => ({
        first,
        last,
        upstream: upstreams[groups[n] ?? -1]?.address ?? wanted.upstream,
      })),
    home: () => upstreams[DEFAULT_GROUP]?.address ?? wanted.upstream,
  }
}

function distinctUpstreams(ranges: readonly EndpointShard[]): readonly EndpointSpec['upstream'][] {
  const all = ranges.map(({ upstream }) => upstream)
  return all.filter((address, n) => all.findIndex((other) => isSameAddress(address, other)) === n)
}

function slotsOf(ranges: readonly EndpointShard[], groups: readonly number[]): Uint16Array {
  const slots = new Uint16Array(SLOTS)
  let filled = 0
  for (const [n, { first, last }] of ranges.entries()) {
    slots.fill(groups[n] ?? 0, first, last + 1)
    filled += Math.max(0, last + 1 - first)
  }
  const sorted = ranges.toSorted((a, b) => a.first - b.first)
  const isGapless = sorted.every(({ first }, n) => first === (sorted[n - 1]?.last ?? -1) + 1)
  if (filled !== SLOTS || !isGapless)
    throw new Refusal('order_not_applicable', 'the shards must hold each slot from 0 to 16383 once')
  return slots
}

/** Combines holds of several groups. */
export function allHeld(results: readonly HoldResult[]): HoldResult {
  return {
    drained: results.every(({ drained }) => drained),
    ms: Math.max(...results.map(({ ms }) => ms)),
    ...firstNotDrained(results),
    late: results.reduce((sum, { late }) => sum + late, 0),
    tries: Math.max(...results.map(({ tries = 0 }) => tries)),
    cut: results.reduce((sum, { cut = 0 }) => sum + cut, 0),
  }
}

/** Combines the statistics of several groups. */
export function allSeen(all: readonly EndpointStats[]): EndpointStats {
  const total = (of: (seen: EndpointStats) => number) => all.reduce((sum, seen) => sum + of(seen), 0)
  return {
    errors: total(({ errors }) => errors),
    lastError: all.find(({ lastError }) => lastError !== '')?.lastError ?? '',
    repoints: total(({ repoints }) => repoints),
    failedHolds: total(({ failedHolds }) => failedHolds),
    heldMsTotal: total(({ heldMsTotal }) => heldMsTotal),
    heldMsLast: Math.max(...all.map(({ heldMsLast }) => heldMsLast)),
  }
}
