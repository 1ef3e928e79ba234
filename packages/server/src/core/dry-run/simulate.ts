import { revisionOf } from '../state/goal.ts'
import {
  type ClusterNode,
  type Disk,
  type EngineState,
  isAt,
  isLive,
  type Seen,
  type SeenDatabase,
  type SeenShard,
  type Step,
} from '../state/topology.ts'

/** What is seen of a database after a step in one of its groups went as it should, before anything else moved. */
export function expectDatabase(seen: SeenDatabase, group: number, step: Step, highestId = 0): SeenDatabase {
  const ids = [highestId, ...seen.groups.flatMap(({ shards }) => shards.map(({ id }) => id))]
  const groups = seen.groups.map((one) => (one.group === group ? expect(one, step, ids) : one))
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

/** Everybody learns of everybody at once: gossip as it will have been. */
function withNodes(
  shard: SeenShard,
  step: Extract<Step, { kind: 'meet' | 'forget-node' }>,
  all: readonly ClusterNode[],
): SeenShard {
  const view = shard.engine?.cluster
  if (view == null) return shard
  const nodes =
    step.kind === 'meet'
      ? [...view.nodes.filter(({ id }) => !all.some((node) => node.id === id)), ...all]
      : view.nodes.filter(({ id }) => id !== step.node)
  return withEngine(shard, { cluster: { ...view, nodes } })
}

function nodeOf(shard: SeenShard, all: readonly SeenShard[]): ClusterNode {
  const { id, address, engine } = shard
  const primary = all.find((one) => isAt(engine?.primary ?? null, one))
  const names = { id: nameOf(shard), primary: primary === undefined ? null : nameOf(primary) }
  return { ...names, address, handshake: false, epoch: id, slots: '' }
}

function nameOf({ id, engine }: SeenShard): string {
  return engine?.cluster?.id ?? `node-${id}`
}

/** What is seen after everything that is on its way has arrived, in every group. */
export function settleDatabase(seen: SeenDatabase): SeenDatabase {
  const groups = seen.groups.map((group) => settle(group))
  if (groups.every((group, n) => group === seen.groups[n])) return seen
  return {
    groups: groups.map((group) => ({
      ...group,
      shards: group.shards.map((shard) => introduce(shard, groups)),
    })),
  }
}

/** A process that comes up in cluster mode has kept what it knew; the simulation lets it know all. */
function introduce(shard: SeenShard, groups: readonly Seen[]): SeenShard {
  const view = shard.engine?.cluster
  if (view == null || view.nodes.length > 0 || shard.engine?.role === 'blank') return shard
  const all = groups.flatMap(({ shards }) => shards)
  const nodes = all.filter((one) => one.engine?.role !== 'blank').map((one) => nodeOf(one, all))
  return withEngine(shard, { cluster: { ...view, nodes } })
}

/** What is seen after a step that went as it should, before anything else moved. */
export function expect(seen: Seen, step: Step, taken = seen.shards.map(({ id }) => id)): Seen {
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
    case 'record-wish':
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

/** The steps that change one shard and nothing besides. */
type ShardStep = Exclude<
  Extract<Step, { shard: number }>,
  { kind: 'retire-shard' | 'record-primary' | 'fence' | 'meet' }
>

function changed(shard: SeenShard, step: ShardStep, seen: Seen): SeenShard {
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
      return withEngine({ ...shard, follows }, asPrimary)
    }
    case 'assign-slots':
    case 'take-back':
      return withEngine(shard, asPrimary)
    case 'enable-aof':
      return withEngine(shard, { aof: 'rewriting' })
    case 'save-snapshot':
      return { ...shard, disk: savedDisk(shard) }
    case 'record-wish':
      return { ...shard, follows: step.follow }
  }
}

const asPrimary = { role: 'primary', primary: null, link: 'down' } as const

/** What is seen after everything that is on its way has arrived: processes answer, links are up, files are written. */
export function settle(seen: Seen): Seen {
  const arrived = seen.shards.map(settleShard)
  const moved = arrived.some((shard, n) => shard !== seen.shards[n])
  return moved ? { ...seen, shards: arrived } : seen

  function settleShard(shard: SeenShard): SeenShard {
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

/** Who follows is where its primary is. */
function heldOf(primary: SeenShard | undefined): Partial<EngineState> {
  if (primary?.engine == null) return {}
  const { replid, offset } = primary.engine
  return { replid, offset }
}

/** The simulation alone knows this of a process: one was there before it, and in cluster mode it has kept that one's place. */
type Restarted = SeenShard & { readonly isRestarted: true }

function restarted(
  shard: SeenShard,
  change: Pick<SeenShard, 'follows'> & Partial<Pick<SeenShard, 'wanted'>>,
): Restarted {
  const { wanted } = { ...shard, ...change }
  return {
    ...{ ...shard, ...change, revision: revisionOf(wanted), isRestarted: true },
    ...{ process: 'starting', processWhy: 'it was started again', engine: null },
  }
}

const blank = { role: 'blank', primary: null } as const

function handedOver(seen: Seen, from: number, to: number): Seen {
  const heir = addressOf(seen, to)
  const change = (shard: SeenShard): SeenShard => {
    if (shard.id === to)
      return withEngine({ ...shard, follows: null }, { role: 'primary', primary: null, link: 'down' })
    return withEngine({ ...shard, follows: to }, { role: 'replica', primary: heir, link: 'down' })
  }
  return {
    ...seen,
    shards: seen.shards.map(change),
    recordedPrimary: to,
    handover: { from, to, released: true, ageMs: 0 },
    standby: standbyOf(seen, from),
  }
}

function standbyOf({ shards }: Seen, id: number): Seen['standby'] {
  const engine = shards.find((shard) => shard.id === id)?.engine
  return { shard: id, runId: engine?.runId ?? '', errorReplies: engine?.errorReplies ?? 0 }
}

function freshShard(taken: readonly number[], step: Extract<Step, { kind: 'add-shard' }>): SeenShard {
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

function savedDisk({ disk, engine }: SeenShard): Disk {
  const snapshot = { replid: engine?.replid ?? null, offset: engine?.offset ?? null }
  return { ...(disk ?? emptyDisk), snapshot }
}

const emptyDisk: Disk = { lookedAt: 0, snapshot: null, aof: 'none', claim: null }

function addressOf(seen: Seen, id: number): SeenShard['address'] | null {
  return seen.shards.find((shard) => shard.id === id)?.address ?? null
}

function withEngine(shard: SeenShard, change: Partial<EngineState>): SeenShard {
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
