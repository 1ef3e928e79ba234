import { revisionOf } from '../state/goal.ts'
import {
  type ClusterNode,
  type Disk,
  type EngineState,
  isAt,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
  type Step,
} from '../state/topology.ts'

/** Returns the observation after a step in one group has succeeded, before any other change. */
export function applyToDatabase(
  seen: ObservedDatabase,
  group: number,
  step: Step,
  highestId = 0,
): ObservedDatabase {
  const ids = [highestId, ...seen.groups.flatMap(({ shards }) => shards.map(({ id }) => id))]
  const groups = seen.groups.map((one) => (one.group === group ? applyStep(one, step, ids) : one))
  if (step.kind !== 'meet' && step.kind !== 'forget-node') return { groups }
  const live = groups.flatMap(({ shards }) => shards.filter(isLive))
  const all = live.map((shard) => nodeOf(shard, live))
  return {
    groups: groups.map((one) => ({
      ...one,
      shards: one.shards.map((shard) => (isLive(shard) ? withNodes(shard, step, all) : shard)),
    })),
  }
}

/** Every shard learns of every other immediately, as after gossip. */
function withNodes(
  shard: ObservedShard,
  step: Extract<Step, { kind: 'meet' | 'forget-node' }>,
  all: readonly ClusterNode[],
): ObservedShard {
  const view = shard.engine?.cluster
  if (view == null) return shard
  const nodes =
    step.kind === 'meet'
      ? [...view.nodes.filter(({ id }) => !all.some((node) => node.id === id)), ...all]
      : view.nodes.filter(({ id }) => id !== step.node)
  return withEngine(shard, { cluster: { ...view, nodes } })
}

function nodeOf(shard: ObservedShard, all: readonly ObservedShard[]): ClusterNode {
  const { id, address, engine } = shard
  const primary = all.find((one) => isAt(engine?.primary ?? null, one))
  const names = { id: nameOf(shard), primary: primary === undefined ? null : nameOf(primary) }
  return { ...names, address, handshake: false, epoch: id, slots: '' }
}

function nameOf({ id, engine }: ObservedShard): string {
  return engine?.cluster?.id ?? `node-${id}`
}

/** Returns the observation after all pending work has finished, in every group. */
export function convergeDatabase(seen: ObservedDatabase): ObservedDatabase {
  const groups = seen.groups.map((group) => converge(group))
  if (groups.every((group, n) => group === seen.groups[n])) return seen
  return {
    groups: groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) => introduce(shard, groups)),
    })),
  }
}

/** A process that starts in cluster mode has kept its knowledge of the cluster; here it knows everything. */
function introduce(shard: ObservedShard, groups: readonly ObservedGroup[]): ObservedShard {
  const view = shard.engine?.cluster
  if (view == null || view.nodes.length > 0 || shard.engine?.role === 'blank') return shard
  const all = groups.flatMap(({ shards }) => shards)
  const nodes = all.filter((one) => one.engine?.role !== 'blank').map((one) => nodeOf(one, all))
  return withEngine(shard, { cluster: { ...view, nodes } })
}

/** Returns the observation after a step has succeeded, before any other change. */
export function applyStep(
  seen: ObservedGroup,
  step: Step,
  taken = seen.shards.map(({ id }) => id),
): ObservedGroup {
  switch (step.kind) {
    case 'add-shard':
      return { ...seen, shards: [...seen.shards, freshShard(taken, step)] }
    case 'retire-shard':
      return { ...seen, shards: seen.shards.filter((shard) => shard.id !== step.shard) }
    case 'hand-over':
      return handedOver(seen, step.from, step.to)
    case 'release-handover':
      return {
        ...seen,
        recordedPrimary: step.primary,
        handover: seen.handover && { ...seen.handover, released: true },
      }
    case 'seal-handover':
      return { ...seen, handover: null }
    case 'record-primary':
      return { ...seen, recordedPrimary: step.shard }
    case 'start-shard':
    case 'restart-shard':
    case 'restart-primary':
    case 'assign-slots':
    case 'end-process':
    case 'follow':
    case 'promote':
    case 'take-back':
    case 'enable-aof':
    case 'save-snapshot':
    case 'record-follows':
      return {
        ...seen,
        shards: seen.shards.map((shard) => (shard.id === step.shard ? changed(shard, step, seen) : shard)),
      }
    case 'fence':
    case 'meet':
    case 'forget-node':
      return seen
  }
}

/** Steps that change only one shard. */
type ShardStep = Exclude<
  Extract<Step, { shard: number }>,
  { kind: 'retire-shard' | 'record-primary' | 'fence' | 'meet' }
>

function changed(shard: ObservedShard, step: ShardStep, seen: ObservedGroup): ObservedShard {
  switch (step.kind) {
    case 'start-shard':
      return restarted(shard, { follows: step.follow })
    case 'restart-shard':
      return restarted(shard, { wanted: step.runs, follows: step.follow })
    case 'restart-primary':
      return restarted(shard, { wanted: step.runs, follows: null })
    case 'end-process':
      return { ...shard, process: 'exited', asleep: true, silence: null, engine: null }
    case 'follow':
      return withEngine(shard, { role: 'replica', primary: addressOf(seen, step.primary), link: 'down' })
    case 'promote': {
      const follows = seen.shards.length > 1 ? null : shard.follows
      return withEngine({ ...shard, follows, leaving: false }, asPrimary)
    }
    case 'assign-slots':
    case 'take-back':
      return withEngine(shard, asPrimary)
    case 'enable-aof':
      return withEngine(shard, { aof: 'rewriting' })
    case 'save-snapshot':
      return { ...shard, disk: savedDisk(shard) }
    case 'record-follows':
      return { ...shard, follows: step.follow }
  }
}

const asPrimary = { role: 'primary', primary: null, link: 'down' } as const

/** Returns the observation after pending work has finished: processes answer, links are up. */
export function converge(seen: ObservedGroup): ObservedGroup {
  const arrived = seen.shards.map(convergeShard)
  const moved = arrived.some((shard, n) => shard !== seen.shards[n])
  return moved ? { ...seen, shards: arrived } : seen

  function convergeShard(shard: ObservedShard): ObservedShard {
    if (shard.process === 'starting' || shard.process === 'stopping') {
      const primary = seen.shards.find((other) => other.id === shard.follows)
      const up =
        primary === undefined
          ? ({ role: 'primary', primary: null } as const)
          : ({ role: 'replica', primary: primary.address } as const)
      const came = seen.slots !== null && !('isRestarted' in shard) ? blank : up
      const link = came !== blank && primary && isLive(primary) ? 'up' : 'down'
      const cluster = seen.slots === null ? null : { id: nameOf(shard), serves: true, nodes: [] }
      const held = heldOf(primary)
      return { ...shard, process: 'running', engine: { ...emptyEngine, ...held, ...came, link, cluster } }
    }
    if (!isLive(shard)) return shard
    const followed = seen.shards.find((other) => isAt(shard.engine.primary, other))
    const link =
      shard.engine.role === 'replica' && followed !== undefined && isLive(followed) ? 'up' : shard.engine.link
    const aof = shard.engine.aof === 'rewriting' ? 'on' : shard.engine.aof
    return link === shard.engine.link && aof === shard.engine.aof ? shard : withEngine(shard, { link, aof })
  }
}

/** Returns a replica's history and offset: its primary's. */
function heldOf(primary: ObservedShard | undefined): Partial<EngineState> {
  if (primary?.engine == null) return {}
  const { replid, offset } = primary.engine
  return { replid, offset }
}

/** Exists only in the simulation: in cluster mode, a restarted process has kept its predecessor's place. */
type Restarted = ObservedShard & { readonly isRestarted: true }

function restarted(
  shard: ObservedShard,
  change: Pick<ObservedShard, 'follows'> & Partial<Pick<ObservedShard, 'wanted'>>,
): Restarted {
  const { wanted } = { ...shard, ...change }
  return {
    ...shard,
    ...change,
    revision: revisionOf(wanted),
    isRestarted: true,
    process: 'starting',
    processWhy: 'it was started again',
    engine: null,
  }
}

const blank = { role: 'blank', primary: null } as const

function handedOver(seen: ObservedGroup, from: number, to: number): ObservedGroup {
  const successor = addressOf(seen, to)
  const change = (shard: ObservedShard): ObservedShard => {
    if (shard.id === to)
      return withEngine({ ...shard, follows: null }, { role: 'primary', primary: null, link: 'down' })
    return withEngine({ ...shard, follows: to }, { role: 'replica', primary: successor, link: 'down' })
  }
  return {
    ...seen,
    shards: seen.shards.map(change),
    recordedPrimary: to,
    handover: { from, to, released: true, ageMs: 0 },
    standby: standbyOf(seen, from),
  }
}

function standbyOf({ shards }: ObservedGroup, id: number): ObservedGroup['standby'] {
  const engine = shards.find((shard) => shard.id === id)?.engine
  return { shard: id, runId: engine?.runId ?? '', errorReplies: engine?.errorReplies ?? 0 }
}

function freshShard(taken: readonly number[], step: Extract<Step, { kind: 'add-shard' }>): ObservedShard {
  const id = 1 + Math.max(0, ...taken)
  return {
    id,
    address: { host: '', port: id },
    wanted: step.runs,
    revision: revisionOf(step.runs),
    follows: step.follow,
    process: 'starting',
    leaving: false,
    processWhy: 'it was just put',
    endedCleanly: false,
    beganAfterDeath: false,
    asleep: false,
    trouble: '',
    next: null,
    disk: emptyDisk,
    engine: null,
  }
}

function savedDisk({ disk, engine }: ObservedShard): Disk {
  const snapshot = { replid: engine?.replid ?? null, offset: engine?.offset ?? null }
  return { ...(disk ?? emptyDisk), snapshot }
}

const emptyDisk: Disk = { lookedAt: 0, snapshot: null, aof: 'none', claim: null }

function addressOf(seen: ObservedGroup, id: number): ObservedShard['address'] | null {
  return seen.shards.find((shard) => shard.id === id)?.address ?? null
}

function withEngine(shard: ObservedShard, change: Partial<EngineState>): ObservedShard {
  return { ...shard, engine: { ...(shard.engine ?? emptyEngine), ...change } }
}

const emptyEngine: EngineState = {
  runId: '',
  role: 'replica',
  primary: null,
  link: 'down',
  syncing: false,
  loading: false,
  replid: '',
  replid2: '',
  secondOffset: -1,
  offset: 0,
  usedMemoryBytes: 0,
  memory: {
    limitBytes: 0,
    evictionPolicy: '',
    backlogBytes: 0,
    hasBacklog: true,
    dataBytes: 0,
    clientBytes: 0,
  },
  keys: 0,
  aof: 'off',
  saving: { state: 'idle', lastAt: null },
  upSeconds: 60,
  streamed: true,
  errorReplies: 0,
  cluster: null,
}
