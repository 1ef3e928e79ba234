import { act } from '../state/group.ts'
import {
  type ClusterNode,
  type Greeting,
  isAt,
  isLive,
  type LiveShard,
  type Seen,
  type SeenDatabase,
  type SeenShard,
  type Step,
  type Verdict,
} from '../state/topology.ts'
import { findStrangers, type Stranger } from './strangers.ts'

/**
 * The membership of a database in cluster mode: everybody knows everybody, and nobody else. By group, what is to be
 * done before anything else in it; groups without a chore are not named.
 *
 * One node that serves slots introduces the other primaries, and each primary its own replicas: only so does a replica
 * learn at once which shard of the cluster it belongs to, in valkey's sense. (With another one's word for it, it takes
 * over as a stranger: 5,461 slots "migrate" one by one, 30 ms instead of 8, and the old primary takes a full sync.)
 * Gossip does the rest. A node without a record is forgotten by all in one go: whoever still knew it would bring it back.
 */
export function planCluster({ groups }: SeenDatabase): ReadonlyMap<number, Verdict> {
  const chores = new Map<number, Verdict>()
  const strangers = findStrangers({ groups }).filter(({ knownTo }) => knownTo.length > 0)
  // One that has slots first: nobody may be promoted, and nobody introduced to it, while anybody believes it.
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

/** In the lane of a group that has nothing else to do; there is another turn after this one. */
function forget({ node, knownTo }: Stranger, groups: readonly Seen[], chores: Map<number, Verdict>): void {
  const idle = groups.find(({ group }) => !chores.has(group))
  const why = 'no shard of the database is this node, or is it any more'
  if (idle !== undefined) chores.set(idle.group, act({ kind: 'forget-node', node, shards: knownTo, why }))
}

/**
 * Whoever serves a group must serve, and know every other shard: clients ask any of them for the way. Gossip brings that about in
 * the end; greetings do at once.
 */
export function planWhole(own: Seen, { groups }: SeenDatabase): Verdict | undefined {
  const everybody = groups.flatMap(({ shards }) => shards.filter(stays))
  for (const shard of own.shards.filter(isLive)) {
    if (shard.engine.cluster === null) continue
    const unknown = everybody.filter((other) => nodeOf(other, shard) === undefined)
    const why = `shard ${shard.id} does not know ${unknown.length} other shard(s) of the cluster yet`
    // Where neither knows the other, one greeting is enough for both. Who is blank is for its own primary to introduce.
    const due = unknown.filter(
      (other) => other.engine.role !== 'blank' && (shard.id < other.id || nodeOf(shard, other) !== undefined),
    )
    const greetings = greet(due.map((other) => [shard, other]))
    if (greetings.length > 0) return act({ kind: 'meet', greetings, why })
    // Of a large cluster it takes long; as long as there are fewer of them, it is waited for.
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
 * Before a shard takes over (reconcile/handover/slot-map-gate.ts) every primary and every sibling must know whom it follows, and it
 * what each primary serves. Gossip spreads within 0.2 s that a node exists; what it is, it says only to whom it pings, and
 * pings one node a second: 4 to 8 s with 24 groups. So they greet each other.
 */
export function planIntroduction(
  { from, to }: Extract<Step, { kind: 'hand-over' }>,
  own: Seen,
  { groups }: SeenDatabase,
): Verdict | undefined {
  const [primary, heir] = [from, to].map((id) => own.shards.filter(isLive).find((shard) => shard.id === id))
  if (primary === undefined || heir === undefined) return undefined
  const others = groups.flatMap(({ shards }) => shards.filter(stays)).filter((shard) => shard !== heir)
  const primaries = others.filter(({ engine }) => engine.role === 'primary')
  const unaware = others
    .filter(({ engine }) => engine.role !== 'blank')
    .filter((other) => nodeOf(heir, other)?.primary !== primary.engine.cluster?.id)
  const unheard = primaries.filter((other) => !isKnownAsItIs(other, heir))
  const due = unaware.filter((other) => primaries.includes(other) || own.shards.includes(other))
  if (due.length + unheard.length === 0) return undefined
  // Those of other groups who may be primaries soon are told in the same breath: nobody waits for them.
  const greetings = greet([
    ...unaware.map((other) => [heir, other] as const),
    ...unheard.map((other) => [other, heir] as const),
  ])
  const why = `shard ${heir.id} has to be known to ${due.length} shard(s) of the cluster, and to hear from ${unheard.length}`
  return greetings.length === 0
    ? { kind: 'wait', shard: heir.id, code: 'cluster_view', why, progress: due.length + unheard.length }
    : act({ kind: 'meet', greetings, why })
}

/** The others forget one that is leaving before its process ends: nobody introduces it again. */
function stays(shard: SeenShard): shard is LiveShard {
  return isLive(shard) && !shard.leaving
}

/** A shard in the eyes of another one. */
function nodeOf({ engine }: LiveShard, other: LiveShard): ClusterNode | undefined {
  return other.engine.cluster?.nodes.find(({ id }) => id === engine.cluster?.id)
}

function isKnownAsItIs(primary: LiveShard, other: LiveShard): boolean {
  const [itself, seen] = [nodeOf(primary, primary), nodeOf(primary, other)]
  return seen !== undefined && seen.slots === itself?.slots && seen.epoch === itself.epoch
}

/** Those greetings, one by the first to the second of each pair, that are not on their way yet. */
function greet(pairs: readonly (readonly [LiveShard, LiveShard])[]): readonly Greeting[] {
  return pairs.filter(([by, to]) => !greets(by, to)).map(([by, to]) => ({ by: by.id, to: to.id }))
}

/** Its introduction is on its way, under an id that is not the real one. */
function greets({ engine }: LiveShard, other: LiveShard): boolean {
  return engine.cluster?.nodes.some(({ address, handshake }) => handshake && isAt(address, other)) ?? false
}

function planMeeting({ shards }: Seen, anchor: LiveShard): Verdict | undefined {
  const group = shards.filter(stays)
  const primary = group.find(({ engine }) => engine.role === 'primary')
  // The first shard of a group gets its slots before it meets the others.
  if (primary === undefined) return undefined
  const unknown =
    primary !== anchor && !isIntroduced(primary, anchor)
      ? { shard: primary, by: anchor }
      : { shard: group.find((shard) => shard !== primary && !isIntroduced(shard, primary)), by: primary }
  if (unknown.shard === undefined) return undefined
  const why = `the cluster shall know shard ${unknown.shard.id}`
  return act({ kind: 'meet', greetings: [{ by: unknown.by.id, to: unknown.shard.id }], why })
}

function isIntroduced(shard: LiveShard, by: LiveShard): boolean {
  return nodeOf(shard, by) !== undefined || greets(by, shard)
}
