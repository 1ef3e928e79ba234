import type { Socket } from 'node:net'
import {
  type Address,
  type EndpointShard,
  type HoldResult,
  Refusal,
  type WantedEndpoint,
} from '@fairlead/api'
import { SLOTS } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { judgeLogin } from '../connection/judge-login.ts'
import { steerLink } from '../connection/steer-client.ts'
import {
  type Endpoint,
  type EndpointOptions,
  LINGER_MS,
  LINGERED,
  TOO_MANY,
  troubleOf,
  visitorOf,
} from '../endpoint/endpoint.ts'
import { createUpstream, TAKEN_AWAY, type Upstream } from '../endpoint/upstream.ts'
import { forwardStash } from '../forwarding/forward-requests.ts'
import { drainOf } from '../handover/hold.ts'
import { allCalm, type Calm, notBegun, withCut } from '../handover/long-requests.ts'
import { beginPiece, endPiece } from '../heartbeat/breadcrumb.ts'
import { addressText, remoteAddress } from '../listen/address-text.ts'
import { addressesOf } from '../listen/addresses-of.ts'
import { createAdmission, createShare } from '../listen/admission.ts'
import { listClients } from '../listen/list-clients.ts'
import { listen, turnAway } from '../listen/listen.ts'
import type { Seen } from '../listen/seen.ts'
import { createKnownScripts } from '../remembered/known-scripts.ts'
import { askAsClients } from './ask-as-clients.ts'
import { connectionsOf, dropRouter, endRouter } from './close-router.ts'
import { presumedRules } from './command-rules.ts'
import { createDoubts } from './doubts.ts'
import { HOME, legTo } from './legs.ts'
import { createLookout } from './lookout.ts'
import { endIfAnswered, goOn, takeClientBytes } from './route-requests.ts'
import { createRouter, type Router, type Shards } from './router.ts'
import { isAmong, isSame } from './slot-view.ts'

/**
 * Serves a sharded database to clients that know nothing of slots. Throws when it cannot listen, and a refusal when the
 * slots are not all there, each once.
 */
export async function openShardedEndpoint(
  wanted: WantedEndpoint,
  options: EndpointOptions = {},
): Promise<Endpoint> {
  const { reusePort = false, admission = createAdmission(), onCut = () => undefined } = options
  const { name = addressText(wanted) } = options
  const ranges = wanted.shards ?? []
  const count = { commands: 0 }
  // One for all groups: a script that one of them knows does the others no harm.
  const scripts = createKnownScripts(options.scripts)
  const routers = new Set<Router>()
  const share = createShare(admission, addressText(wanted))
  const onLogin = ({ visitor }: Connection) => admission.strangers.remove(visitor)
  const upstreams = distinctUpstreams(ranges).map((address) =>
    // A leg that is lost is no client that is cut, unless its router says so.
    createUpstream(
      address,
      wanted.upstreamTls,
      { count, scripts, admission, onLogin, onClosed: () => undefined, onCut: () => undefined },
      options.generations,
    ),
  )
  const groupOf = ({ upstream }: EndpointShard) =>
    upstreams.findIndex(({ address }) => isSame(address, upstream))
  const groups = ranges.map(groupOf)
  const slots = slotsOf(ranges, groups)
  /** Where its shards are: whoever looks after the database has said so. */
  let known = addressesOf(wanted)
  const alsoKnown = (address: Address) => {
    if (!isAmong(known, address)) known = [...known, address]
  }
  const doubts = createDoubts()
  const lookout = createLookout({
    ask: (at) => askAsClients({ ...at, tls: wanted.upstreamTls }, upstreams),
    primaries: () => upstreams.map(({ address }) => address),
    known: () => known,
    slots,
    move: (group, to) => moveGroup(to, ranges[groups.indexOf(group)]?.first ?? 0),
  })
  const shards: Shards = {
    upstreams,
    slots,
    rules: presumedRules,
    areRulesOld: true,
    lookout,
    doubts,
    onCut,
  }
  const { moveGroup = (address, slot) => upstreamOf(slot).switchTo(address) } = options
  /** Of an order: it names a group by a slot that was wanted of it, wherever that slot is now. */
  const upstreamOf = (slot: number): Upstream => {
    const upstream =
      upstreams[groups[ranges.findIndex(({ first, last }) => first <= slot && slot <= last)] ?? -1]
    if (upstream === undefined) throw new Refusal('not_found', `no group has the slot ${slot}`)
    return upstream
  }
  const concerned = (slot: number | undefined) => (slot === undefined ? upstreams : [upstreamOf(slot)])
  /** A client may come to have a link to each group, beside its own connection; others have two. */
  const weight = Math.ceil((1 + upstreams.length) / 2)

  const calm = async (withinMs: number, slot?: number): Promise<Calm> =>
    allCalm(await Promise.all(concerned(slot).map((upstream) => upstream.calm(withinMs))))
  const refuse = (socket: Socket, why: string) => onCut({ client: remoteAddress(socket), via: [], why })
  const admit = (socket: Socket): void => {
    if (!share.take(weight)) {
      upstreams[HOME]?.owner.onError(TOO_MANY)
      refuse(socket, TOO_MANY)
      turnAway(socket)
      return
    }
    const visitor = visitorOf(socket, name)
    beginPiece('takes a new client', visitor.crumb)
    const router = createRouter(socket, visitor, shards, goOn)
    routers.add(router)
    const gone = () => {
      dropRouter(router)
      admission.strangers.remove(visitor)
      if (routers.delete(router)) share.leave(weight)
    }
    socket.on('close', gone)
    if (upstreams[HOME]?.owner.logins.asked !== false)
      admission.strangers.add(visitor, {
        ...{ endpoint: addressText(wanted), source: socket.remoteAddress ?? '' },
        judge: () => (router.home === undefined ? 'unknown' : judgeLogin(router.home.connection)),
        cut: (why) => {
          endRouter(router, why)
          gone()
        },
      })
    listenTo(router)
    legTo(router, HOME)
    endPiece()
  }

  const listener = await listen(wanted, { reusePort, share, strangers: admission.strangers }, admit, refuse)
  const shardsNow = () =>
    ranges.map(({ first, last }, n) => ({
      first,
      last,
      upstream: upstreams[groups[n] ?? -1]?.address ?? wanted.upstream,
    }))
  const home = () => upstreams[HOME]?.address ?? wanted.upstream
  return {
    get wanted() {
      return { ...wanted, upstream: home(), shards: shardsNow() }
    },
    know(addresses) {
      known = addresses
    },
    prepare(address, slot) {
      alsoKnown(address)
      return upstreamOf(slot ?? 0).prepare(address)
    },
    blocked: (slot) => concerned(slot).flatMap((upstream) => upstream.blocked()),
    calm,
    async hold({ slot, ...times }) {
      const found = await calm(times.calmMs ?? drainOf(times), slot)
      if (found.long > 0) return notBegun(found)
      const held = allHeld(await Promise.all(concerned(slot).map((upstream) => upstream.hold(times))))
      return withCut(held, found)
    },
    async switchTo(address, slot, others, generation) {
      if (slot === undefined && upstreams.length > 1)
        throw new Refusal('order_not_applicable', 'the database is sharded: name a slot of the group')
      alsoKnown(address)
      const result = await upstreamOf(slot ?? 0).switchTo(address, others, generation)
      // Engines differ, and modules add commands.
      shards.areRulesOld = true
      for (const router of routers) router.triedRules = false
      return result
    },
    takeScripts: (engine, all) => scripts.take(addressText(engine), all),
    forgetScripts: scripts.forget,
    release(slot, hasFailed) {
      for (const upstream of concerned(slot)) upstream.release(hasFailed)
    },
    renewTls: listener.renewTls,
    clients: (query) => listClients(presentIn(routers), query),
    report: () => ({
      host: wanted.host,
      port: wanted.port,
      upstream: home(),
      shards: shardsNow(),
      isHeld: upstreams.some(({ isHeld }) => isHeld),
      connections: routers.size,
      commands: count.commands,
      behind: upstreams.flatMap(({ behind }) => behind),
      doubted: doubts.seen,
      ...allSeen(upstreams.map(({ seen }) => seen)),
    }),
    async [Symbol.asyncDispose]() {
      lookout[Symbol.dispose]()
      for (const router of routers) dropRouter(router, TAKEN_AWAY)
      for (const upstream of upstreams) upstream[Symbol.dispose]()
      share[Symbol.dispose]()
      await listener[Symbol.asyncDispose]()
    },
  }
}

function distinctUpstreams(ranges: readonly EndpointShard[]): readonly WantedEndpoint['upstream'][] {
  const all = ranges.map(({ upstream }) => upstream)
  return all.filter((address, n) => all.findIndex((other) => isSame(address, other)) === n)
}

function slotsOf(ranges: readonly EndpointShard[], groups: readonly number[]): Uint16Array {
  const slots = new Uint16Array(SLOTS)
  let filled = 0
  for (const [n, { first, last }] of ranges.entries()) {
    slots.fill(groups[n] ?? 0, first, last + 1)
    filled += Math.max(0, last + 1 - first)
  }
  const sorted = ranges.toSorted((a, b) => a.first - b.first)
  const isGapless = sorted.every(({ first }, n) => first === (sorted[n - 1]?.last ?? -1) + 1)
  if (filled !== SLOTS || !isGapless)
    throw new Refusal('order_not_applicable', 'the shards must hold each slot from 0 to 16383 once')
  return slots
}

function allHeld(results: readonly HoldResult[]): HoldResult {
  return {
    drained: results.every(({ drained }) => drained),
    ms: Math.max(...results.map(({ ms }) => ms)),
    why: results.find(({ drained }) => !drained)?.why ?? '',
    late: results.reduce((sum, { late }) => sum + late, 0),
    tries: Math.max(...results.map(({ tries = 0 }) => tries)),
    cut: results.reduce((sum, { cut = 0 }) => sum + cut, 0),
  }
}

function allSeen(all: readonly Seen[]): Seen {
  const total = (of: (seen: Seen) => number) => all.reduce((sum, seen) => sum + of(seen), 0)
  return {
    errors: total(({ errors }) => errors),
    lastError: all.find(({ lastError }) => lastError !== '')?.lastError ?? '',
    repoints: total(({ repoints }) => repoints),
    failedHolds: total(({ failedHolds }) => failedHolds),
    heldMsTotal: total(({ heldMsTotal }) => heldMsTotal),
    heldMsLast: Math.max(...all.map(({ heldMsLast }) => heldMsLast)),
  }
}

function* presentIn(routers: ReadonlySet<Router>) {
  for (const router of routers) {
    const { visitor, home } = router
    yield { visitor, connections: connectionsOf(router), state: home?.connection.state }
  }
}

function listenTo(router: Router): void {
  const { client } = router
  const { crumb } = router.visitor
  client.on('data', (chunk) => {
    beginPiece('takes requests of', crumb)
    takeClientBytes(router, chunk)
    endPiece()
  })
  client.on('drain', () => {
    beginPiece('takes requests again of', crumb)
    for (const leg of router.legs) {
      if (leg === undefined) continue
      steerLink(leg.connection)
      forwardStash(leg.connection)
    }
    endPiece()
  })
  client.on('end', () => {
    router.clientEnded = true
    endIfAnswered(router)
    client.setTimeout(LINGER_MS, () => dropRouter(router, LINGERED))
  })
  client.on('error', (cause) => dropRouter(router, troubleOf(cause)))
}
