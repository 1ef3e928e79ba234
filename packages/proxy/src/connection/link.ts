import type { Socket } from 'node:net'
import { createQueue, createReplyScanner, type Queue, type ReplyScanner } from '@fairlead/engine'
import type { Command } from '../remembered/command.ts'
import type { Script } from '../remembered/known-scripts.ts'
import type { ExecMarking } from '../remembered/mark-exec.ts'
import { createUnanswered, type Unanswered } from './unanswered.ts'

/** One connection to an engine, and what is under way on it. */
export interface Link {
  readonly socket: Socket
  readonly via: Via
  readonly replies: ReplyScanner
  /** The generation of the cursors that its engine gives (scan-cursors.ts). */
  generation: number
  /** Requests forwarded, and replies received. They are equal when nothing is under way. */
  sent: number
  answered: number
  /** The noted ones among those under way, in order. */
  readonly noted: Queue<Noted>
  /** The cost of these (`countNoted`). */
  notedBytes: number
  /** True: the link is closed, and their cost is not counted for its thread any more. */
  forgotten: boolean
  /** How many of them the proxy itself has sent. */
  own: number
  /** True: one of them asks whether the client has signed in. */
  proving: boolean
  /** True: the next request of the client waits until all replies have arrived. */
  waitsForAll: boolean
  /** The number of the last EXEC whose reply may be incomplete; 0: there was none. */
  cutAt: number
  /** Commands were sent that get no reply: a question must show whether they were executed. */
  unproven: boolean
  readonly unanswered: Unanswered
  /** Replies that wait for its next turn (turns.ts). */
  unread: Buffer | null
  /** True: the reply that is being read must be complete before it is passed on. */
  careful: boolean
  parts: Buffer[]
  partBytes: number
  /** The beginning of a reply to a scan that is kept back until its cursor is there; null: none is. */
  beginning: Buffer | null
  /** A question whose answer cannot be confused with any other reply, and its number among the requests (trial.ts); null: none was asked. */
  trial: { readonly word: string; readonly at: number } | null
  /** Not null: the reply that is being read is that to an EXEC with scans in it. */
  marking: ExecMarking | null
  /** While the link is being made ready: messages for the client that arrived meanwhile. */
  early: Buffer[] | null
  /** How many of these bytes are counted (kept-early.ts). */
  earlyBytes: number
  /** Called when no request of the proxy itself (replay, probes) is under way any more, or with the error. */
  onOwnAnswered: ((trouble?: string) => void) | null
  /** Not null: called at the end of the message that is being read, and nothing behind it is delivered before. */
  onWhole: (() => void) | null
}

/** A request whose reply is looked into. */
export interface Noted {
  /** Its number among the requests of this link, from 1. */
  readonly at: number
  readonly command: Command
  /** Sent by the proxy itself: the client sees neither it nor its replies. */
  readonly isOwn: boolean
  /** Sent by the proxy: it must succeed. */
  readonly must: boolean
  /** True: the client sent EXEC and the proxy sent DISCARD, so the client gets nil. */
  readonly nilInstead: boolean
  readonly blocks: boolean
  /** The script that it runs, if it was known when the request was sent. */
  readonly script: Script | undefined
  /** Sent by the proxy: it asks whether the client has signed in. */
  readonly proves: boolean
  /** The bytes kept of it because it is part of a transaction. */
  readonly keptBytes: number
  /** Its cost until it is answered. */
  readonly costs: number
  /** The channels that are confirmed one by one; null before the first. */
  channels: readonly string[] | null
  confirmed: number
  readonly sinceMs: number
}

/** A link on which nothing was sent yet. `generation` marks the cursors that its engine gives. */
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

/** The proxy's end of a link, as the shard's CLIENT LIST names it, and the shard's end. */
export interface Via {
  readonly address: string
  readonly shard: string
}
