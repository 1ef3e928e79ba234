import type { Socket } from 'node:net'
import { createQueue, createReplyScanner, type Queue, type ReplyScanner } from '@fairlead/engine'
import type { Command } from '../remembered/command.ts'
import type { Script } from '../remembered/known-scripts.ts'
import type { ExecMarking } from '../remembered/mark-exec.ts'
import { createUnanswered, type Unanswered } from './unanswered.ts'

/** One connection to an engine, and its pending requests. */
export interface Link {
  readonly socket: Socket
  readonly via: Via
  readonly replies: ReplyScanner
  /** Generation of the cursors that its engine gives (scan-cursors.ts). */
  generation: number
  /** Requests forwarded and replies received. Equal if none is pending. */
  sent: number
  answered: number
  /** The noted ones among the pending requests, in order. */
  readonly noted: Queue<Noted>
  /** Their cost (`countNoted`). */
  notedBytes: number
  /** The engine's number for the link, if the client has asked for it; else 0. */
  engineId: number
  /** CLIENT ID of the client that gets this one's CLIENT TRACKING messages; 0 if there is none. */
  redirect: number
  /** True if the link is closed and its cost is no longer counted for the thread. */
  forgotten: boolean
  /** Number of pending requests that the proxy sent. */
  own: number
  /** True if one of them asks about the client's login. */
  proving: boolean
  /** True if the client's next request waits for all replies. */
  waitsForAll: boolean
  /** Sequence number of the last EXEC whose reply may be incomplete; 0 if there was none. */
  cutAt: number
  /** True after commands without a reply: a probe must show that they were executed. */
  unproven: boolean
  readonly unanswered: Unanswered
  /** Replies that wait for the link's next turn (turns.ts). */
  unread: Buffer | null
  /** True if the reply that is being read must be complete before it is passed on. */
  careful: boolean
  parts: Buffer[]
  partBytes: number
  /** Beginning of a reply to a scan, kept back until its cursor has arrived; or null. */
  beginning: Buffer | null
  /** A probe with an unmistakable answer, and its number among the requests (trial.ts); or null. */
  trial: { readonly word: string; readonly at: number } | null
  /** Set while the reply to an EXEC with scans is read. */
  marking: ExecMarking | null
  /** Messages for the client that arrive while the link is under preparation. */
  early: Buffer[] | null
  /** Number of these bytes that are counted (kept-early.ts). */
  earlyBytes: number
  /** Called when no request of the proxy (replay, probes) is pending any more, or with the error. */
  onOwnAnswered: ((trouble?: string) => void) | null
  /** Called at the end of the message that is being read; later bytes are not delivered before. */
  onWhole: (() => void) | null
}

/** A pending request whose reply is examined. */
export interface Noted {
  /** Sequence number among the requests of this link, from 1. */
  readonly at: number
  readonly command: Command
  /** True if the proxy sent it: the client sees neither it nor its replies. */
  readonly isOwn: boolean
  /** True if it must succeed (proxy requests only). */
  readonly must: boolean
  /** True if the client sent EXEC and the proxy DISCARD: the client gets nil. */
  readonly nilInstead: boolean
  /** Turns the engine's reply, which arrives as one piece, into the client's; or null. */
  readonly answer: ((reply: Buffer) => Buffer) | null
  readonly blocks: boolean
  /** The script that it runs, if known when the request was sent. */
  readonly script: Script | undefined
  /** True if it asks about the client's login (proxy requests only). */
  readonly proves: boolean
  /** Bytes kept of it as part of a transaction. */
  readonly keptBytes: number
  /** Cost until it is answered. */
  readonly costs: number
  /** Channels that are confirmed one by one; null before the first. */
  channels: readonly string[] | null
  confirmed: number
  readonly sinceMs: number
}

/** Creates a link without requests. `generation`: of the cursors that its engine gives. */
export function createLink(socket: Socket, via: Via, generation: number): Link {
  return {
    socket,
    via,
    replies: createReplyScanner(),
    generation,
    sent: 0,
    answered: 0,
    noted: createQueue(),
    notedBytes: 0,
    engineId: 0,
    redirect: 0,
    forgotten: false,
    own: 0,
    proving: false,
    waitsForAll: false,
    cutAt: 0,
    unproven: false,
    unanswered: createUnanswered(),
    unread: null,
    careful: false,
    parts: [],
    partBytes: 0,
    beginning: null,
    trial: null,
    marking: null,
    early: null,
    earlyBytes: 0,
    onOwnAnswered: null,
    onWhole: null,
  }
}

/** `address`: the proxy's end of a link, as in the shard's CLIENT LIST. `shard`: the shard's end. */
export interface Via {
  readonly address: string
  readonly shard: string
}
