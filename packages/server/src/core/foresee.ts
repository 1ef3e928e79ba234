import { revisionOf } from './goal.ts'
import { planGroup } from './plan-group.ts'
import {
  type EngineState,
  type Goal,
  isAt,
  isLive,
  type Seen,
  type SeenShard,
  type Step,
} from './topology.ts'

/**
 * The steps from `seen` to `goal` if all goes as expected: the plan that people see, and the measure of progress.
 * Waits are taken as met. Ends early where the way is blocked.
 */
export function foresee(seen: Seen, goal: Goal): readonly Step[] {
  const steps: Step[] = []
  let world = seen
  while (steps.length < MOST_STEPS) {
    const verdict = planGroup(world, goal)
    if (verdict.kind === 'wait') {
      const settled = settle(world)
      if (settled === world) return steps
      world = settled
      continue
    }
    if (verdict.kind !== 'do') return steps
    steps.push(verdict.step)
    world = settle(expect(world, verdict.step))
  }
  return steps
}

/** Far above what one group needs (about a dozen); a plan that does not end is a fault, not a loop. */
const MOST_STEPS = 200

/** What is seen after a step that went as it should, before anything else moved. */
export function expect(seen: Seen, step: Step): Seen {
  const change = (id: number, make: (shard: SeenShard) => SeenShard): Seen => ({
    ...seen,
    shards: seen.shards.map((shard) => (shard.id === id ? make(shard) : shard)),
  })
  switch (step.kind) {
    case 'add-shard':
      return { ...seen, shards: [...seen.shards, freshShard(seen, step)] }
    case 'start-shard':
      return change(step.shard, (shard) => ({
        ...shard,
        process: 'starting',
        revision: revisionOf(shard.wanted),
        follows: step.follow,
        engine: null,
      }))
    case 'restart-shard':
      return change(step.shard, (shard) => ({
        ...shard,
        process: 'starting',
        wanted: step.runs,
        revision: revisionOf(step.runs),
        follows: step.follow,
        engine: null,
      }))
    case 'retire-shard':
      return { ...seen, shards: seen.shards.filter((shard) => shard.id !== step.shard) }
    case 'follow':
      return change(step.shard, (shard) =>
        withEngine(shard, { role: 'replica', primary: addressOf(seen, step.primary), link: 'down' }),
      )
    case 'promote':
      return change(step.shard, (shard) =>
        withEngine(shard, { role: 'primary', primary: null, link: 'down' }),
      )
    case 'enable-aof':
      return change(step.shard, (shard) => withEngine(shard, { aof: 'rewriting' }))
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
    case 'record-wish':
      return change(step.shard, (shard) => ({ ...shard, follows: step.follow }))
    case 'fence':
      return seen
  }
}

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
      return {
        ...shard,
        process: 'running',
        engine: { ...emptyEngine, ...up, link: primary && isLive(primary) ? 'up' : 'down' },
      }
    }
    if (!isLive(shard)) return shard
    const followed = seen.shards.find((other) => isAt(shard.engine.primary, other))
    const link =
      shard.engine.role === 'replica' && followed !== undefined && isLive(followed) ? 'up' : shard.engine.link
    const aof = shard.engine.aof === 'rewriting' ? 'on' : shard.engine.aof
    return link === shard.engine.link && aof === shard.engine.aof ? shard : withEngine(shard, { link, aof })
  }
}

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
  }
}

function freshShard(seen: Seen, step: Extract<Step, { kind: 'add-shard' }>): SeenShard {
  const id = 1 + Math.max(0, ...seen.shards.map((shard) => shard.id))
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
    engine: null,
  }
}

function addressOf(seen: Seen, id: number): SeenShard['address'] | null {
  return seen.shards.find((shard) => shard.id === id)?.address ?? null
}

function withEngine(shard: SeenShard, change: Partial<EngineState>): SeenShard {
  return { ...shard, engine: { ...(shard.engine ?? emptyEngine), ...change } }
}

const emptyEngine: EngineState = {
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
  aof: 'off',
}
