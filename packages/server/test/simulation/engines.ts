/**
 * Engines with data for the planner's tests: each knows its executed writes in order, with replication id and
 * offset. So "no acknowledged write is lost" is looked up, not concluded.
 */

import { createDraws } from '../../../../proof/create-chance.ts'

/** Whole numbers below `below`, the same for the same seed. */
export type Pick = (below: number) => number

export function picksOf(seed: number): Pick {
  const draw = createDraws(seed ^ 0x9e3779b9)
  return (below) => draw() % below
}

/** The files of a process. An append-only file has no replication data; a snapshot names its history. */
export interface Disk {
  readonly snapshot: Saved | null
  readonly aof: readonly number[] | null
  /** The append-only file holds each write of the last process. */
  readonly aofWhole: boolean
}

export interface Saved {
  readonly log: readonly number[]
  readonly replid: string
  readonly offset: number
}

export const noDisk: Disk = { snapshot: null, aof: null, aofWhole: false }

export interface Engine {
  readonly runId: string
  readonly revision: string
  role: 'primary' | 'replica' | 'blank'
  /** The shard it follows. */
  primary: number | null
  link: 'up' | 'down'
  syncing: boolean
  replid: string
  replid2: string
  secondOffset: number
  offset: number
  /** The writes it holds. HOLE stands for one that it could not carry out. */
  log: readonly number[]
  aof: 'off' | 'rewriting' | 'on'
  /** A snapshot on its way to the disk. */
  saving: Saved | null
  /** It has sent or received a stream since its process began. */
  streamed: boolean
  errorReplies: number
  /** The data of its last full sync were none that its build can read. */
  cannotRead: boolean
  /** True if a replica refuses clients' writes. Initially false, like an administrator may set it. */
  readOnly: boolean
  /** Writes have to wait, until this moment (of the world's time) at most. */
  paused: boolean
  pausedUntil: number
  /** In cluster mode a primary that has just restarted takes no writes before it knows which shard serves. */
  unheard: boolean
  /** Known shards of the cluster, including itself; and those whose introduction is on its way. */
  known: ReadonlySet<number>
  greeted: ReadonlySet<number>
  /** The shards that it was told to forget, as long as it ignores gossip about them. */
  banned: ReadonlySet<number>
  /** Shards that it has read from its file of the cluster at its start. */
  ofFile: ReadonlySet<number>
}

export const HOLE = -1
let names = 0
/** The id of a process or of a history; never the same twice. */
export const freshName = () => `n${names++}`

export const emptyEngine = (revision: string): Engine => ({
  runId: freshName(),
  revision,
  role: 'primary',
  primary: null,
  link: 'down',
  syncing: false,
  replid: freshName(),
  replid2: '',
  secondOffset: -1,
  offset: 0,
  log: [],
  aof: 'off',
  saving: null,
  streamed: false,
  errorReplies: 0,
  cannotRead: false,
  paused: false,
  readOnly: false,
  pausedUntil: 0,
  unheard: false,
  known: new Set(),
  greeted: new Set(),
  banned: new Set(),
  ofFile: new Set(),
})

/** A replica resumes its snapshot's history; a primary renames and continues it (decide-appendonly.ts). */
export function load(engine: Engine, disk: Disk, follows: boolean, wantsAof: boolean): void {
  const { snapshot, aof, aofWhole } = disk
  const isAof = !follows && aof !== null && (aofWhole || snapshot === null)
  if (isAof) engine.log = aof
  else if (snapshot !== null) {
    engine.log = snapshot.log
    engine.offset = snapshot.offset
    if (engine.role === 'replica') engine.replid = snapshot.replid
    else branch(engine, snapshot.replid)
  }
  if (follows || !wantsAof) return
  engine.aof = isAof || snapshot === null ? 'on' : 'rewriting'
}

export const save = ({ log, replid, offset }: Engine): Saved => ({ log, replid, offset })

/** A promotion: a new history that begins where the one before ended. */
export function promote(engine: Engine): void {
  if (engine.role === 'primary') return
  branch(engine, engine.replid)
  Object.assign(engine, { role: 'primary', primary: null, link: 'down', syncing: false })
}

function branch(engine: Engine, from: string): void {
  Object.assign(engine, { replid: freshName(), replid2: from, secondOffset: engine.offset + 1 })
}

/** It gets another primary; its own followers have to connect again. */
export function follow(engine: Engine, primary: number, followers: readonly Engine[]): void {
  if (engine.role === 'replica' && engine.primary === primary) return
  Object.assign(engine, { role: 'replica', primary, link: 'down', syncing: false })
  for (const follower of followers) follower.link = 'down'
}

/** A pause ends by itself; of two, the later end counts. */
export function pauseFor(engine: Engine, until: number): void {
  const before = engine.paused ? engine.pausedUntil : 0
  Object.assign(engine, { paused: true, pausedUntil: Math.max(before, until) })
}

export const takesWrites = ({ role, paused, unheard }: Engine) => role === 'primary' && !paused && !unheard

export function write(engine: Engine, id: number): void {
  engine.log = [...engine.log, id]
  engine.offset += 1
}

/** What builds do with each other's data. */
export interface Dialects {
  /** Whether a command of the stream fails at the follower. */
  readonly stumbles: (follower: Engine, source: Engine) => boolean
  /** Whether the follower can load the data of a full sync. */
  readonly reads: (follower: Engine, source: Engine) => boolean
}

/** The data that can arrive arrives, or a part of it. */
export function replicate(engine: Engine, source: Engine | null, pick: Pick, dialects: Dialects): void {
  if (engine.role !== 'replica') return
  if (source === null) {
    Object.assign(engine, { link: 'down', syncing: false })
    return
  }
  // Chains last for moments only, so the little that flows through them is left out.
  if (source.role !== 'primary') return
  if (engine.link === 'down') connect(engine, source, pick, dialects)
  else if (engine.offset < source.offset) {
    const behind = source.offset - engine.offset
    const coming = source.log.slice(source.log.length - behind).slice(0, behind - (pick(4) === 0 ? 1 : 0))
    for (const id of coming) {
      // A replica of a replica gets the stream as it came, and fails at it itself.
      const failed = id === HOLE || dialects.stumbles(engine, source)
      write(engine, failed ? HOLE : id)
      if (failed) engine.errorReplies += 1
    }
  }
}

function connect(engine: Engine, source: Engine, pick: Pick, { reads }: Dialects): void {
  if (engine.syncing && !reads(engine, source)) {
    // It has given up its own data for those.
    Object.assign(engine, { cannotRead: true, log: [], offset: 0, replid: freshName(), replid2: '' })
  } else if (engine.syncing) {
    const { replid, offset, log } = source
    Object.assign(engine, { streamed: true })
    Object.assign(source, { streamed: true })
    Object.assign(engine, { syncing: false, link: 'up', replid, replid2: '', secondOffset: -1, offset, log })
  } else if (continues(engine, source) && pick(8) > 0) {
    if (engine.replid !== source.replid) {
      Object.assign(engine, {
        replid2: engine.replid,
        secondOffset: engine.offset + 1,
        replid: source.replid,
      })
    }
    Object.assign(engine, { link: 'up', streamed: true })
    source.streamed = true
  } else engine.syncing = true
}

function continues(mine: Engine, theirs: Engine): boolean {
  const behind = theirs.offset - mine.offset
  if (behind < 0 || behind > theirs.log.length) return false
  return (
    mine.replid === theirs.replid || (mine.replid === theirs.replid2 && mine.offset < theirs.secondOffset)
  )
}
