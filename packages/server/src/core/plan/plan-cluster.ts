import { act } from '../state/group.ts'
import {
  type ClusterNode,
  type Greeting,
  isAt,
  isLive,
  type LiveShard,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
  type Step,
  type Verdict,
} from '../state/topology.ts'
import { findStrangers, type Stranger } from './strangers.ts'

/**
 * Plans the membership in cluster mode: every shard knows every other, and no foreign node. Returns, by
 * group, the work that comes before all other work in it.
 * 1. One node with slots introduces the other primaries, and each primary its replicas. Only then does a
 *    replica learn immediately to which cluster shard (Valkey's term) it belongs. Introduced by another node,
 *    it takes over as a stranger: 5,461 slots "migrate" singly, 30 ms instead of 8, and the old primary takes
 *    a full sync.
 * 2. Gossip does the rest.
 * 3. All shards forget a node without a record at the same time: a shard that still knew it would restore it.
 */
export function planCluster({ groups }: ObservedDatabase): ReadonlyMap<number, Verdict> {
  const chores = new Map<number, Verdict>()
  const strangers = findStrangers({ groups }).filter(({ knownTo }) => knownTo.length > 0)
  // Strangers with slots first: while any shard believes one, no shard may be promoted or introduced to one.
  for (const one of strangers.filter(hasSlots)) forget(one, groups, chores)
  const live = groups.flatMap(({ shards }) => shards.filter(isLive))
  const anchor = live.find(({ engine }) => engine.role === 'primary' && engine.cluster !== null)
  if (anchor === undefined) return chores
  for (const seen of groups) {
    const chore = chores.has(seen.group) ? undefined : planMeeting(seen, anchor)
    if (chore !== undefined) chores.set(seen.group, chore)
  }
  for (const one of strangers.filter((stranger) => !hasSlots(stranger))) forget(one, groups, chores)
  return chores
}

function hasSlots({ slots }: Stranger): boolean {
  return slots !== ''
}

/** Done in the lane of an idle group; otherwise in a later turn. */
function forget(
  { node, knownTo }: Stranger,
  groups: readonly ObservedGroup[],
  chores: Map<number, Verdict>,
): void {
  const idle = groups.find(({ group }) => !chores.has(group))
  const why = 'this node is no shard of the database, or no longer'
  if (idle !== undefined) chores.set(idle.group, act({ kind: 'forget-node', node, shards: knownTo, why }))
}

/**
 * Checks that a group's primary serves, and that its shards know every other shard, because clients ask any
 * of them for a key's location. Gossip achieves that eventually, greetings (`CLUSTER MEET`) immediately.
 */
export function planWhole(own: ObservedGroup, { groups }: ObservedDatabase): Verdict | undefined {
  const everybody = groups.flatMap(({ shards }) => shards.filter(stays))
  for (const shard of own.shards.filter(isLive)) {
    if (shard.engine.cluster === null) continue
    const unknown = everybody.filter((other) => nodeOf(other, shard) === undefined)
    const why = `shard ${shard.id} does not know ${nameSome(unknown)} of the cluster yet`
    // One greeting serves both directions. A blank shard is introduced by its primary.
    const due = unknown.filter(
      (other) => other.engine.role !== 'blank' && (shard.id < other.id || nodeOf(shard, other) !== undefined),
    )
    const greetings = greet(due.map((other) => [shard, other]))
    if (greetings.length > 0)
      return act({ kind: 'meet', greetings, shard: shard.id, missing: unknown.length, why })
    // In a large cluster this takes long; the wait lasts while the number of unknown shards falls.
    if (unknown.length > 0)
      return { kind: 'wait', shard: shard.id, code: 'cluster_view', why, progress: unknown.length }
    if (!shard.engine.cluster.serves)
      return {
        kind: 'wait',
        shard: shard.id,
        code: 'cluster_view',
        why: `shard ${shard.id} does not serve its slots yet`,
      }
  }
  return undefined
}

/**
 * Introduces a successor before it takes over (reconcile/handover/slot-map-gate.ts): every primary and
 * sibling must know its primary, and it must know the slots of each primary. Gossip announces a node within
 * 0.2 s, but its role and slots only with its pings, one peer a second: 4 to 8 s with 24 groups. So they
 * greet each other.
 */
export function planIntroduction(
  { from, to }: Extract<Step, { kind: 'hand-over' }>,
  own: ObservedGroup,
  { groups }: ObservedDatabase,
): Verdict | undefined {
  const [primary, successor] = [from, to].map((id) =>
    own.shards.filter(isLive).find((shard) => shard.id === id),
  )
  if (primary === undefined || successor === undefined) return undefined
  const others = groups.flatMap(({ shards }) => shards.filter(stays)).filter((shard) => shard !== successor)
  const primaries = others.filter(({ engine }) => engine.role === 'primary')
  const unaware = others
    .filter(({ engine }) => engine.role !== 'blank')
    .filter((other) => nodeOf(successor, other)?.primary !== primary.engine.cluster?.id)
  const unheard = primaries.filter((other) => !isKnownAsItIs(other, successor))
  const due = unaware.filter((other) => primaries.includes(other) || own.shards.includes(other))
  if (due.length + unheard.length === 0) return undefined
  // Shards of other groups that may soon be primaries are greeted in the same step, but not waited for.
  const greetings = greet([
    ...unaware.map((other) => [successor, other] as const),
    ...unheard.map((other) => [other, successor] as const),
  ])
  const why = `shard ${successor.id} must be introduced to ${nameSome(due)} of the cluster, and ${nameSome(unheard)} to it${howKnown(unheard[0], successor)}`
  const missing = due.length + unheard.length
  return greetings.length === 0
    ? { kind: 'wait', shard: successor.id, code: 'cluster_view', why, progress: missing }
    : act({ kind: 'meet', greetings, shard: successor.id, missing, why })
}

/** Formats for people: "shard 2, shard 5, shard 7 and 4 others". */
function nameSome(shards: readonly ObservedShard[]): string {
  const names = shards.slice(0, 3).map(({ id }) => `shard ${id}`)
  const more = shards.length - names.length
  if (names.length === 0) return 'no shard'
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} other(s)`
}

/** True unless it leaves: others forget a leaving shard, and it must not be introduced again. */
function stays(shard: ObservedShard): shard is LiveShard {
  return isLive(shard) && !shard.leaving
}

/** Finds a shard in the view of another one. */
function nodeOf({ engine }: LiveShard, other: LiveShard): ClusterNode | undefined {
  return other.engine.cluster?.nodes.find(({ id }) => id === engine.cluster?.id)
}

function isKnownAsItIs(primary: LiveShard, other: LiveShard): boolean {
  const [itself, seen] = [nodeOf(primary, primary), nodeOf(primary, other)]
  return seen !== undefined && seen.slots === itself?.slots && seen.epoch === itself.epoch
}

/** Describes the difference for people: a shard that does not believe a primary needs more than greetings. */
function howKnown(primary: LiveShard | undefined, other: LiveShard): string {
  if (primary === undefined) return ''
  const seen = nodeOf(primary, other)
  const as = seen === undefined ? 'unknown to it' : `in its view ${ownedBy(seen)}`
  return ` (shard ${primary.id}: ${ownedBy(nodeOf(primary, primary))}, ${as})`
}

function ownedBy(node: ClusterNode | undefined): string {
  return `slots ${node?.slots || 'none'} of epoch ${node?.epoch ?? 'none'}`
}

/** Returns greetings from the first to the second shard of each pair, except those under way. */
function greet(pairs: readonly (readonly [LiveShard, LiveShard])[]): readonly Greeting[] {
  return pairs.filter(([by, to]) => !greets(by, to)).map(([by, to]) => ({ by: by.id, to: to.id }))
}

/** True if its introduction is under way, with a temporary id. */
function greets({ engine }: LiveShard, other: LiveShard): boolean {
  return engine.cluster?.nodes.some(({ address, handshake }) => handshake && isAt(address, other)) ?? false
}

function planMeeting({ shards }: ObservedGroup, anchor: LiveShard): Verdict | undefined {
  const group = shards.filter(stays)
  const primary = group.find(({ engine }) => engine.role === 'primary')
  // The first shard of a group gets its slots before it meets the others.
  if (primary === undefined) return undefined
  const followers = group.filter((shard) => shard !== primary)
  const pairs = [
    ...(primary === anchor ? [] : [[anchor, primary] as const]),
    ...followers.map((shard) => [primary, shard] as const),
  ]
  const strangers = pairs.find(([by, shard]) => !isIntroduced(shard, by)) ?? pairs.flatMap(whichForgot)[0]
  if (strangers === undefined) return undefined
  const [by, to] = strangers
  const why = `the cluster does not know shard ${to.id} yet`
  return act({ kind: 'meet', greetings: [{ by: by.id, to: to.id }], shard: to.id, why })
}

/**
 * Finds pairs where the second shard does not know the first, but the first knows it: it was ordered to
 * forget the first (gossip cannot restore it for a minute), or died before its nodes.conf had the first
 * (gossip never does). The second must then greet the first; a blank shard is greeted by its primary.
 */
function whichForgot([one, other]: readonly [LiveShard, LiveShard]): readonly (readonly [
  LiveShard,
  LiveShard,
])[] {
  if (nodeOf(other, one) === undefined || isIntroduced(one, other)) return []
  if (other.engine.role !== 'blank') return [[other, one]]
  return greets(one, other) ? [] : [[one, other]]
}

function isIntroduced(shard: LiveShard, by: LiveShard): boolean {
  return nodeOf(shard, by) !== undefined || greets(by, shard)
}
