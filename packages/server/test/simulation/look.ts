/** The tests' world as the planner sees it. */

import { historyBefore } from '../../src/core/state/database.ts'
import type { Handover } from '../../src/core/state/handover.ts'
import type {
  Disk,
  EngineState,
  ObservedDatabase,
  ObservedGroup,
  ObservedShard,
} from '../../src/core/state/topology.ts'
import { type Engine, freshName } from './engines.ts'
import { unlimited } from './group.ts'
import { lastHandover, liveOf, type Member, memberOf, type Team, type World } from './world.ts'

/** The observation: equal to observe.ts without commands (compare-looks.ts compares them). */
export function look(world: World): ObservedDatabase {
  for (const team of world.teams) keepHistory(team)
  const node = { memoryFreeBytes: world.memoryFreeBytes, diskFreeBytes: 1e12 }
  const limits = { shareBytes: 0, evictionPolicy: 'noeviction' }
  const groups = world.teams.map((team): ObservedGroup => {
    const { number, slots, members, recorded, history } = team
    const last = lastHandover(team)
    const shards = members.map((member) => seeMember(member, world))
    return {
      group: number,
      slots,
      shards,
      recordedPrimary: recorded,
      history,
      handover: last === undefined || last.closed ? null : openSince(last, world),
      standby: last?.standby ?? null,
      limits,
      node,
    }
  })
  return { groups }
}

function openSince({ from, to, released, intendedAt }: Handover, { time }: World) {
  return { from, to, released, ageMs: time.elapsed() - Date.parse(intendedAt) }
}

/**
 * Unlike keepHistory of the product, records no more than linked followers have: before each look of the
 * model there is a write that has not reached them (`pass` in lead.ts), while a real stream is faster than a
 * look.
 */
function keepHistory(team: Team): void {
  const engine = team.members.find(({ id }) => id === team.recorded)?.engine
  const last = lastHandover(team)
  const moves = last !== undefined && !last.released
  if (moves || engine == null || engine.role !== 'primary') return
  const linked = liveOf(team).flatMap(({ engine: own, stall }) =>
    own?.link === 'up' && stall === null ? [own.offset] : [],
  )
  team.history = {
    replid: engine.replid,
    offset: Math.min(engine.offset, ...linked),
    runId: engine.runId,
    ...historyBefore(engine),
  }
}

function seeMember(member: Member, world: World): ObservedShard {
  const { id, wanted, revision, follows, leaving, state, engine, endedCleanly } = member
  const records = {
    id,
    address: { host: '', port: id },
    wanted,
    // The agent reports nothing of a shard that it has removed.
    revision: state === 'absent' ? null : revision,
    follows,
    leaving,
    trouble: '',
    next: null,
    asleep: state === 'exited' && member.spec?.onCrash === 'wait',
    beganAfterDeath: false,
    disk: seeDisk(member, world),
    cannotRead: engine?.cannotRead ?? false,
  }
  const process = { process: state, processWhy: state, endedCleanly: state === 'exited' && endedCleanly }
  if (engine === null) return { ...records, ...process, engine: null }
  if (member.stall !== null) {
    const silence = { hung: false, onDisk: false, forMs: member.stall.past * 500, startedAt: 0 }
    return { ...records, ...process, silence, engine: null }
  }
  return { ...records, ...process, engine: seeEngine(id, engine, world) }
}

function seeEngine(id: number, engine: Engine, world: World): EngineState {
  const { runId, role, primary, link, syncing, replid, replid2, secondOffset, offset } = engine
  const { aof, streamed, errorReplies } = engine
  const nodes = [...engine.known].map((node) => nodeOf(node, world, false))
  const greeted = [...engine.greeted].map((node) => nodeOf(node, world, true))
  return {
    runId,
    role,
    link,
    syncing,
    replid,
    replid2,
    secondOffset,
    offset,
    aof,
    streamed,
    errorReplies,
    upSeconds: 60,
    saving: { state: engine.saving === null ? 'idle' : 'writing', lastAt: null },
    primary: primary === null ? null : { host: '', port: primary },
    loading: false,
    usedMemoryBytes: 1e6,
    memory: unlimited(1e6),
    keys: engine.log.length,
    cluster: world.cluster ? { id: `node-${id}`, serves: true, nodes: [...nodes, ...greeted] } : null,
  }
}

/** The files in the folder of a shard, as its agent sees them. */
export function seeDisk({ state, disk, engine, place, epoch }: Member, { cluster }: World): Disk {
  const { snapshot, aof, aofWhole } = disk
  const isWhole = engine === null ? aofWhole : engine.aof === 'on'
  return {
    lookedAt: 0,
    snapshot: snapshot && { replid: snapshot.replid, offset: snapshot.offset },
    aof: isWhole ? 'whole' : aof === null ? 'none' : 'older',
    claim: state !== 'absent' && cluster && (engine ?? place)?.role === 'primary' ? epoch : null,
  }
}

/** A known node has its address. The gate covers exceptions, and is tested on real engines. */
export function nodeOf(id: number, world: World, handshake: boolean) {
  // Of a node in handshake, an engine does not know yet which primary it follows.
  const followed = handshake ? null : (memberOf(world, id)?.engine?.primary ?? null)
  const primary = followed === null ? null : `node-${followed}`
  const name = handshake ? freshName() : `node-${id}`
  return { id: name, address: { host: '', port: id }, handshake, primary, epoch: id, slots: '' }
}
