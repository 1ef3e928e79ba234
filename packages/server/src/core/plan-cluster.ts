import { act } from './group.ts'
import { isAt, isLive, type LiveShard, type Seen, type SeenDatabase, type Verdict } from './topology.ts'

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
  const live = groups.flatMap(({ shards }) => shards.filter(isLive))
  const anchor = live.find(({ engine }) => engine.role === 'primary' && engine.cluster !== null)
  if (anchor === undefined) return new Map()
  const chores = new Map<number, Verdict>()
  for (const seen of groups) {
    const chore = planMeeting(seen, anchor)
    if (chore !== undefined) chores.set(seen.group, chore)
  }
  const strangers = findStrangers(groups, live)
  const idle = groups.filter(({ group }) => !chores.has(group))
  for (const [n, { node, knownTo }] of strangers.slice(0, idle.length).entries()) {
    const why = 'no shard of the database is this node any more'
    chores.set(idle[n]?.group ?? 0, act({ kind: 'forget-node', node, shards: knownTo, why }))
  }
  return chores
}

/**
 * Whoever serves a group must serve, and know every other shard: clients ask any of them for the way. What is left to do
 * is to wait for gossip; undefined when it has come.
 */
export function planWhole(seen: Seen, { groups }: SeenDatabase): Verdict | undefined {
  const everybody = groups.flatMap(({ shards }) => shards.flatMap(({ engine }) => engine?.cluster?.id ?? []))
  for (const shard of seen.shards.filter(isLive)) {
    const view = shard.engine.cluster
    if (view === null) continue
    if (!view.serves)
      return { kind: 'wait', shard: shard.id, why: `shard ${shard.id} does not serve its slots yet` }
    const unknown = everybody.filter((id) => !view.nodes.some((node) => node.id === id))
    if (unknown.length === 0) continue
    const why = `shard ${shard.id} does not know ${unknown.length} other shard(s) of the cluster yet`
    return { kind: 'wait', shard: shard.id, why }
  }
  return undefined
}

function planMeeting({ shards }: Seen, anchor: LiveShard): Verdict | undefined {
  const group = shards.filter(isLive)
  const primary = group.find(({ engine }) => engine.role === 'primary')
  // The first shard of a group gets its slots before it meets the others.
  if (primary === undefined) return undefined
  const unknown =
    primary !== anchor && !isIntroduced(primary, anchor)
      ? { shard: primary, by: anchor }
      : { shard: group.find((shard) => shard !== primary && !isIntroduced(shard, primary)), by: primary }
  if (unknown.shard === undefined) return undefined
  const why = `the cluster shall know shard ${unknown.shard.id}`
  return act({ kind: 'meet', shard: unknown.shard.id, anchor: unknown.by.id, why })
}

/** By its own id; or its introduction is on its way, under an id that is not its real one. */
function isIntroduced(shard: LiveShard, { engine }: LiveShard): boolean {
  return (engine.cluster?.nodes ?? []).some(
    ({ id, address, handshake }) => id === shard.engine.cluster?.id || (handshake && isAt(address, shard)),
  )
}

/** Nodes that are nobody's, and who knows them. */
function findStrangers(groups: readonly Seen[], live: readonly LiveShard[]) {
  const records = groups.flatMap(({ shards }) => shards)
  const own = new Set(live.map(({ engine }) => engine.cluster?.id))
  const isStranger = ({ id, address, handshake }: ClusterNode) => {
    if (handshake || own.has(id)) return false
    const there = records.find((shard) => isAt(address, shard))
    // Somebody who does not answer may come back under this id; somebody who answers has another one.
    return there === undefined || isLive(there)
  }
  const strangers = new Map<string, number[]>()
  for (const { id, engine } of live) {
    // An engine cannot forget whom it follows.
    for (const node of engine.cluster?.nodes ?? [])
      if (isStranger(node) && !isSame(engine.primary, node.address))
        strangers.set(node.id, [...(strangers.get(node.id) ?? []), id])
  }
  return [...strangers].map(([node, knownTo]) => ({ node, knownTo }))
}

type ClusterNode = NonNullable<LiveShard['engine']['cluster']>['nodes'][number]

function isSame(a: LiveShard['engine']['primary'], b: ClusterNode['address']): boolean {
  return a !== null && a.host === b.host && a.port === b.port
}
