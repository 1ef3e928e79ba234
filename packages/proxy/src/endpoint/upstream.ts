import { type Address, type HoldResult, Refusal, type SwitchResult, type WantedEndpoint } from '@fairlead/api'
import { type Behind, behindOf } from '../connection/behind.ts'
import type { Connection, Owner } from '../connection/connection.ts'
import { eachOf } from '../connection/each-of.ts'
import { dropConnection, endUnreached } from '../connection/end-connection.ts'
import type { Hush } from '../connection/hush.ts'
import { BEFORE_ALL, isLate } from '../connection/is-late.ts'
import { type CursorGenerations, createGenerations } from '../handover/cursor-generations.ts'
import { createCursorsNow } from '../handover/cursors-now.ts'
import { createDebts } from '../handover/debts.ts'
import { endHush } from '../handover/end-hush.ts'
import { createGivenUp } from '../handover/given-up.ts'
import { createHold, drainOf, type Hold, OWN_HOLD } from '../handover/hold.ts'
import { type Calm, createLongRequests, noCalm } from '../handover/long-requests.ts'
import { mayLetGo } from '../handover/may-let-go.ts'
import { type Arranged, moveFirst } from '../handover/move-all.ts'
import { moveConnection, noticeQuiet, releaseConnection, resume } from '../handover/move-connection.ts'
import { adopt, openLink, type Target } from '../handover/open-link.ts'
import { prepareLinks } from '../handover/prepare-links.ts'
import { addressText } from '../listen/address-text.ts'
import type { Admission } from '../listen/admission.ts'
import { meet, type Others } from '../listen/others.ts'
import { createSeen, type Seen } from '../listen/seen.ts'

/** The primary of one group, wherever its role is, and the connections that go there. */
export interface Upstream extends Disposable {
  readonly address: Address
  /** What a connection needs to be created for this upstream. */
  readonly owner: Owner
  readonly connections: ReadonlySet<Connection>
  readonly isHeld: boolean
  readonly seen: Seen
  /** Where connections are that have not followed yet, for a while after the switch. */
  readonly behind: readonly Behind[]
  /** Takes a connection that is being opened; it has a link soon, or is closed with an error. */
  add(connection: Connection): void
  /** Opens links there for those that are in use, before they are held. How many. */
  prepare(address: Address): Promise<number>
  /** Blocking commands that may be given up before a hold (given-up.ts), by our end of their links. Only while nobody is held. */
  blocked(): readonly string[]
  /** Waits, while nobody is held, until no long request is on its way. How many are after `withinMs`: then a hold has failed. 0: a look. */
  calm(withinMs: number): Promise<Calm>
  /** Stops forwarding and waits until all replies are in. */
  hold(times: { readonly deadlineMs: number; readonly drainMs?: number }): Promise<HoldResult>
  /**
   * Moves everything to `address`, and lets clients go there: those that have asked something at once, the rest follows. Throws a
   * refusal if commands are not answered in time. `generation`: of the cursors that are given there; taken if it is not named.
   */
  switchTo(address: Address, others?: Others, generation?: number): Promise<SwitchResult>
  /** Lets clients go where they were. `hasFailed`: it counts as a hold that failed. */
  release(hasFailed?: boolean): void
}

/** Whoever has not read its replies by then is not waited for. */
const BEHIND_MS = 30_000
/** How long a client may wait for an engine that cannot be reached. */
const REACH_MS = 2_000
const reachBy = () => performance.now() + REACH_MS
/** Of those that nobody waits for. */
const FOLLOW_AT_ONCE = 8
/** Why connections are cut when nobody wants their endpoint any more, or the proxy ends. */
export const TAKEN_AWAY = 'the endpoint was taken away'
const ASK_AGAIN_MS = 100
/**
 * `onClosed` hears of connections that are no more, `onCut` of those that are cut, before that; `count` counts what is
 * forwarded, `scripts` learns those that clients use. `generations`: for cursors that clients are given.
 */
export function createUpstream(
  first: Address,
  tls: WantedEndpoint['upstreamTls'],
  events: Pick<Owner, 'count' | 'onCut' | 'onLogin' | 'scripts'> & {
    readonly onClosed: (connection: Connection) => void
    readonly admission: Admission
  },
  generations: CursorGenerations = createGenerations(),
): Upstream {
  const { count, scripts, onCut, onLogin, onClosed, admission } = events
  const connections = new Set<Connection>()
  const followers = new Set<Promise<void>>()
  const longRequests = createLongRequests(connections)
  const seen = createSeen()
  let address = first
  const cursors = createCursorsNow(generations)
  let switchedMs = Number.NEGATIVE_INFINITY
  let hold: Hold | null = null
  /** All move at this moment: nobody on its own. */
  let isGoing = false
  let switching: Promise<SwitchResult> | null = null
  let settling: Promise<void> | null = null
  const hush: Hush = { isOn: false }
  const target = (): Target => ({ ...address, tls, cursors })
  const debts = createDebts(target)
  const owner: Owner = {
    era: 0,
    ...{ count, scripts, hush, gate: longRequests.gate, onCut, onLogin, logins: { asked: null } },
    onQuiet: (connection) => {
      if (givenUp.take(connection)) return
      // Given up while it was held, and the role is where it was: its engine closes the link.
      if (connection.mode === 'serving') Object.assign(connection, { mode: 'held', era: BEFORE_ALL })
      if (!noticeQuiet(connection)) return
      if (isLate(connection)) void follow(connection)
      else hold?.look()
    },
    onWaiting: (connection) => {
      hold?.waits(connection)
      void follow(connection)
    },
    onClosed: (connection) => {
      if (connections.delete(connection)) onClosed(connection)
      hold?.look()
    },
    onError: (what) => {
      seen.errors += 1
      seen.lastError = what
    },
  }

  const open = async (connection: Connection): Promise<void> => {
    try {
      const link = await openLink(connection, target(), reachBy())
      if (connection.mode !== 'opening') return void link.socket.destroy()
      adopt(connection, link)
      if (!isLate(connection)) return serve(connection)
      connection.mode = 'held'
      await follow(connection)
    } catch (cause) {
      // A switch that began meanwhile opens it anew.
      if (connection.mode !== 'opening') return
      const why = `no engine could be reached: ${cause instanceof Error ? cause.message : String(cause)}`
      owner.onError(why)
      endUnreached(connection, 'LOADING the database cannot be reached right now; try again', why)
    }
  }
  /** Moves a connection on its own, after the others. */
  const follow = async (connection: Connection): Promise<void> => {
    const { mode } = connection
    if (isGoing || !isLate(connection) || (mode !== 'held' && mode !== 'opening')) return
    connection.era = owner.era
    const following = moveConnection(connection, target(), reachBy())
    followers.add(following)
    await following
    followers.delete(following)
    serve(connection)
  }
  /** It has its link. If another hold has begun meanwhile, it is held with the others. */
  const serve = (connection: Connection): void => {
    if (connection.mode === 'closed') return
    connection.mode = 'serving'
    if (hold === null) resume(connection)
    else hold.take(connection)
  }

  const letGo = (): void => {
    if (hold === null) return
    endHold(hold)
    hold = null
    release()
  }
  const goOn = (connection: Connection): void => {
    if (isLate(connection)) void follow(connection)
    else void releaseConnection(connection, target(), reachBy())
  }
  const givenUp = createGivenUp(connections, goOn)
  /** All but those that have yet to follow: where they are the role is not. */
  const release = (): void => {
    for (const connection of connections) if (!isLate(connection)) goOn(connection)
  }
  const endHold = (ended: Hold): number => {
    const heldMs = ended.end()
    seen.heldMsLast = heldMs
    seen.heldMsTotal += heldMs
    return heldMs
  }
  const giveUp = (): void => {
    if (switching !== null || hold === null) return
    seen.failedHolds += 1
    letGo()
  }
  /** The time of a hold is over, and nobody says where to go on. Where writes would be refused, clients wait on. */
  const giveUpIfServed = async (): Promise<void> => {
    const mine = hold
    const isOver = mine === null || (await mayLetGo(connections, target(), mine))
    if (hold !== mine || mine === null) return
    isOver ? giveUp() : mine.renew(ASK_AGAIN_MS)
  }
  const beginHold: Upstream['hold'] = async ({ deadlineMs, drainMs = drainOf({ deadlineMs }) }) => {
    if (settling !== null) await settling
    if (hold === null) {
      hold = createHold(connections, () => void giveUpIfServed())
      givenUp.join()
      for (const connection of connections) hold.take(connection)
    }
    hold.renew(deadlineMs)
    const mine = hold
    const result = await debts.drain(mine, drainMs, longRequests.gate.isClosed)
    if (mine.unanswered().length > 0) longRequests.open(false)
    if (!result.drained) giveUp()
    return result
  }
  const goOver = async (to: Address, others?: Others, ofCursors?: number): Promise<SwitchResult> => {
    if (hold === null) {
      const { drained, why } = await beginHold(OWN_HOLD)
      if (!drained || hold === null)
        throw new Refusal('order_not_applicable', `the endpoint cannot be held: ${why}`)
    }
    // Whoever still follows the last switch has to arrive there before it can go on from there.
    isGoing = true
    while (followers.size > 0) await Promise.all(followers)
    address = to
    cursors.begin(ofCursors ?? generations.take())
    switchedMs = performance.now()
    seen.repoints += 1
    const arranged = hold.arranged()
    const { first, asking, impatient, listening } = arranged
    const later = connections.size - first.length - asking.length
    owner.era += 1
    for (const connection of first) connection.era = owner.era
    await moveFirst(first, (each) => moveConnection(each, target(), reachBy()), target())
    await meet(others?.allThere(), owner.onError)
    hush.isOn = listening.length > 0 || others !== undefined
    isGoing = false
    const ended = hold
    hold = null
    longRequests.open(true)
    for (const connection of first) resume(connection)
    for (const connection of [...impatient, ...ended.lately()]) goOn(connection)
    await eachOf(asking, follow)
    const heldMs = endHold(ended)
    settling = settle(arranged, others)
    const closed = [...first, ...asking].filter(({ mode }) => mode === 'closed').length
    return {
      moved: first.length + asking.length - closed,
      later,
      closed,
      heldMs,
    }
  }
  /** The others follow while clients are served. Nothing is published before all subscribers are there. */
  const settle = async ({ listening, later }: Arranged, others: Others | undefined): Promise<void> => {
    await eachOf(listening, follow)
    await Promise.all(followers)
    await meet(others?.allListen(), owner.onError)
    hush.isOn = false
    for (const connection of connections) endHush(connection)
    settling = null
    void eachOf(later, follow, FOLLOW_AT_ONCE)
  }

  return {
    get address() {
      return address
    },
    get isHeld() {
      return hold !== null
    },
    owner,
    connections,
    seen,
    get behind() {
      return performance.now() - switchedMs > BEHIND_MS ? [] : behindOf(connections, addressText(address))
    },
    add(connection) {
      connections.add(connection)
      hold?.waits(connection)
      void open(connection)
    },
    prepare: (to) => prepareLinks(connections, { ...target(), ...to }, admission),
    blocked: () => (hold === null && switching === null ? givenUp.candidates() : []),
    async calm(withinMs) {
      if (hold !== null) return noCalm
      const calm = await longRequests.end(withinMs, await debts.settle())
      if (calm.long > 0) seen.failedHolds += 1
      return calm
    },
    hold: beginHold,
    async switchTo(to, others, ofCursors) {
      await switching?.catch(() => null)
      if (hold === null && to.host === address.host && to.port === address.port)
        return { moved: 0, later: 0, closed: 0, heldMs: 0 }
      switching = goOver(to, others, ofCursors)
      try {
        return await switching
      } finally {
        switching = null
      }
    },
    release(hasFailed = false) {
      if (switching !== null) return
      if (hasFailed && hold !== null) seen.failedHolds += 1
      if (!hasFailed && hold !== null) longRequests.open(true)
      givenUp.end()
      letGo()
    },
    [Symbol.dispose]() {
      hold?.end()
      hold = null
      for (const connection of connections) dropConnection(connection, TAKEN_AWAY)
    },
  }
}
