import type { Changes } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { isUnknownTo } from '../../nodes/report-shards.ts'
import type { DatabaseRecords, Log, NodeAgent, PassingTime, ShardRecords } from '../turn/ports.ts'
import { createMarks, type Marks } from './marks.ts'
import type { Queue } from './slots.ts'

/** Ports for hearing changes. */
export type HearingPorts = NodeAgent<'awaitChanges'> &
  ShardRecords<'databasesOf'> &
  DatabaseRecords<'advanceHistories' | 'listReserved'> &
  PassingTime &
  Log

/** Effects of reported changes. */
export interface Listener {
  /** Called when a shard of this database has changed, or is reported for the first time (`watch`). */
  changed(databaseUid: number, queue: Queue): unknown
  /** Called when a new process is the node's proxy; it has opened the endpoints in its file. */
  otherProxy(): void
  /** Called after each answer, and each missing answer. */
  asked(): void
}

/** An answer comes within this time, even without changes: this shows that the connection lives. */
const WAIT_MS = 20_000
/** Pause before an absent agent is asked again. */
const AWAY_MS = { first: 50, last: 1_000 }
/** Polling interval for an agent whose version reports no changes. */
const DEAF_MS = 1_000

/** Receives changes from the agent until `signal` is aborted. Never rejects. */
export async function hearChanges(
  ports: HearingPorts,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  const heard: Heard = { boot: '', seq: 0, marks: createMarks(), proxy: undefined }
  let awayMs = AWAY_MS.first
  while (!signal.aborted) {
    try {
      const asked = { boot: heard.boot, after: heard.seq, waitMs: WAIT_MS }
      await take(await ports.agent.awaitChanges({ body: asked }, { signal }), heard, ports, listener)
      listener.asked()
      awayMs = AWAY_MS.first
    } catch (cause) {
      if (signal.aborted) return
      const isDeaf = isUnknownTo(cause)
      if (isDeaf) await lookAtAll(ports, listener)
      else if (!(cause instanceof AgentUnreachable)) forget(cause, heard, ports)
      listener.asked()
      await ports.time.pause(isDeaf ? DEAF_MS : awayMs, signal).catch(() => undefined)
      awayMs = Math.min(AWAY_MS.last, awayMs * 2)
    }
  }
}

interface Heard {
  boot: string
  seq: number
  /** Marks by the agent's names of shards. */
  readonly marks: Marks
  /** Process of the proxy. */
  proxy: number | null | undefined
}

/** Called if the answer was unreadable or its effects failed: everything is requested again, as changed. */
function forget(cause: unknown, heard: Heard, { log }: Log): void {
  log.warn({ err: cause, why: messageOf(cause) }, 'a report of changes of an agent cannot be processed')
  heard.seq = 0
  heard.marks.clear()
}

async function lookAtAll({ databases }: HearingPorts, listener: Listener): Promise<void> {
  for (const { uid } of await databases.listReserved()) listener.changed(uid, 'watch')
}

async function take(news: Changes, heard: Heard, ports: HearingPorts, listener: Listener): Promise<void> {
  const changed = new Set([...different(news, heard)])
  // After a start of the server every shard is new: these turns must not delay work in progress and users'
  // orders.
  const queue = heard.boot === '' ? 'watch' : 'action'
  // Done first: a turn that finds the primary dead must know its last offset.
  const streams = news.offsets.map(({ id, ...stream }) => ({ shard: shardId(id), ...stream }))
  if (streams.length > 0) await ports.databases.advanceHistories(streams)
  const ids = [...changed].map(shardId).filter(Number.isSafeInteger)
  for (const uid of await ports.shards.databasesOf(ids)) listener.changed(uid, queue)
  const { state, pid } = news.proxy
  if (state === 'running' && heard.proxy !== pid) {
    const isFirst = heard.proxy === undefined
    heard.proxy = pid
    listener.otherProxy()
    if (!isFirst) await lookAtAll(ports, listener)
  }
  heard.boot = news.boot
  const isComplete = heard.marks.digest() === news.digest
  if (!isComplete && news.all) throw new Error('the digest of an agent is not that of what it has listed')
  heard.seq = isComplete ? news.seq : 0
}

/** Yields the shards whose mark has changed, and keeps the new marks. */
function* different({ all, shards, gone }: Changes, { marks }: Heard): Generator<string> {
  const listed = new Set(shards.map(({ id }) => id))
  const left = all ? [...marks.ids()].filter((id) => !listed.has(id)) : gone
  for (const id of left) if (marks.delete(id)) yield id
  for (const { id, mark } of shards) {
    if (marks.set(id, mark)) yield id
  }
}

/** Returns the recorded shard id in the agent's name. */
function shardId(name: string): number {
  return Number(name.slice(1))
}
