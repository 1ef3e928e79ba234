import { type EngineLink, errorWord, openEngineLink } from './engine-link.ts'
import type { PrimaryRoute } from './follow-primary.ts'
import { type Address, isSameAddress } from './layout.ts'
import { movedTo } from './moved-hints.ts'
import type { Reply } from './resp-lite.ts'

/** One client of the load: it has at most one command outstanding, and always returns to the primary. */
export interface LoadConnection {
  readonly state: ConnectionState
  /** Sends the next command. Only when idle. */
  issue(nowMs: number): void
  /** Gives up the outstanding command if it was sent before `sentBeforeMs`: its outcome is unknown. */
  giveUp(sentBeforeMs: number): void
  close(): void
}

/**
 * - connecting: a link is being opened; becomes idle, or seeking when it ends.
 * - idle: may issue; becomes busy, or seeking when the link ends.
 * - busy: a command is outstanding; becomes idle when it is acked, seeking when it is refused or the link
 *   ends.
 * - seeking: waits for the API to name the primary; becomes idle (same address, link alive) or connecting.
 * - closed: stays closed.
 */
export type ConnectionState = 'connecting' | 'idle' | 'busy' | 'seeking' | 'closed'

/**
 * What happens on a connection. `number` is its own; `why` is one word (READONLY, closed, ECONNREFUSED, …).
 */
export interface LoadEvents {
  command(number: number): string
  /** Is this the answer that acknowledges the outstanding command? Called for all answers but errors. */
  acknowledges(number: number, reply: Reply): boolean
  refused(number: number, why: string): void
  unknown(number: number, why: string): void
  /** The link broke, or could not be opened, while no command was outstanding. */
  broken(number: number, why: string): void
  connecting(number: number): void
  /** The connection is idle (again). */
  idle(connection: LoadConnection): void
}

export interface LoadConnectionOptions {
  /** The connection's own number, with which it calls `events`. */
  readonly number: number
  /** The slot that all its keys lie in. */
  readonly slot: number
  readonly password: string
  readonly route: PrimaryRoute
  readonly events: LoadEvents
}

/**
 * Opens a link to the primary that `route` names, and follows the primary from then on, until `close`. Throws
 * when no primary was ever named.
 */
export function openLoadConnection(options: LoadConnectionOptions): LoadConnection {
  const { number, slot, password, route, events } = options
  let state: ConnectionState = 'connecting'
  let sentMs = 0
  let link: EngineLink

  const connection: LoadConnection = {
    get state() {
      return state
    },
    issue(nowMs) {
      state = 'busy'
      sentMs = nowMs
      link.send(events.command(number))
    },
    giveUp(sentBeforeMs) {
      if (state === 'busy' && sentMs < sentBeforeMs) link.end('no-answer')
    },
    close() {
      state = 'closed'
      link.end('stopped')
    },
  }
  openLink(route.current(slot))
  return connection

  function openLink(address: Address): void {
    state = 'connecting'
    events.connecting(number)
    link = openEngineLink({ address, password, onReady: becomeIdle, onReply, onEnd })
  }

  function becomeIdle(): void {
    state = 'idle'
    events.idle(connection)
  }

  function onReply(reply: Reply): void {
    if (state !== 'busy') link.end('unasked')
    else if (reply.kind === 'error') {
      events.refused(number, errorWord(reply.text))
      seekPrimary(movedTo(reply.text, link.address))
    } else if (events.acknowledges(number, reply)) becomeIdle()
    else link.end('unexpected')
  }

  function onEnd(why: string): void {
    if (state === 'closed' || state === 'seeking') return
    if (state === 'busy') events.unknown(number, why)
    else events.broken(number, why)
    seekPrimary(null)
  }

  function seekPrimary(moved: Address | null): void {
    state = 'seeking'
    route.ask(slot, { at: link.address, moved }, (address) => {
      if (state !== 'seeking') return
      if (link.usable && isSameAddress(address, link.address)) return becomeIdle()
      link.end('moved')
      openLink(address)
    })
  }
}
