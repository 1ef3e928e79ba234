import type { Socket } from 'node:net'
import { type Address, type EndpointSpec, Refusal } from '@fairlead/api/of-proxies'
import type { Connection } from '../connection/connection.ts'
import { judgeLogin } from '../connection/judge-login.ts'
import { steerLink } from '../connection/steer-client.ts'
import { createOwnPeers, withOthers } from '../endpoint/create-peers.ts'
import {
  type Endpoint,
  type EndpointOptions,
  LINGER_MS,
  LINGERED,
  TOO_MANY,
  troubleOf,
  visitorOf,
} from '../endpoint/endpoint.ts'
import { createUpstream, TAKEN_AWAY } from '../endpoint/upstream.ts'
import { forwardStash } from '../forwarding/forward-requests.ts'
import { beginTurn, createAllowance, endTurn, runInSlice } from '../forwarding/turns.ts'
import { drainOf } from '../handover/hold.ts'
import { allQuiescent, noQuiescence, notBegun, type Quiescence, withCut } from '../handover/long-requests.ts'
import { beginPiece, endPiece } from '../heartbeat/breadcrumb.ts'
import { addressText, remoteAddress } from '../listen/address-text.ts'
import { addressesOf } from '../listen/addresses-of.ts'
import { type Admission, createAdmission, createShare } from '../listen/admission.ts'
import { listClients } from '../listen/list-clients.ts'
import { type Admitted, listen, rejectConnection } from '../listen/listen.ts'
import { inSpec } from '../listen/places.ts'
import { createKnownScripts } from '../remembered/known-scripts.ts'
import { createCount } from '../traffic/count-traffic.ts'
import { askAsClients } from './ask-as-clients.ts'
import { backendFor, DEFAULT_GROUP } from './backends.ts'
import { connectionsOf, dropRouter, endIfAnswered, endRouter, watchUnreadReplies } from './close-router.ts'
import { presumedRules } from './command-rules.ts'
import { createDoubts } from './doubts.ts'
import { allHeld, allSeen, createGroups } from './groups-of-endpoint.ts'
import { createLookout } from './lookout.ts'
import { resume, setClientBytesAside, takeClientBytes } from './route-requests.ts'
import { createRouter, type Router, type Shards } from './router.ts'
import { isAmong } from './slot-view.ts'

/**
 * Serves a sharded database to clients without cluster support. Throws if it cannot listen, and a Refusal
 * unless each slot is in exactly one range.
 */
export async function openShardedEndpoint(
  wanted: EndpointSpec,
  options: EndpointOptions = {},
): Promise<Endpoint> {
  const { reusePort = false, admission = createAdmission() } = options
  const parts = makeParts(wanted, options, admission)
  const { groups, routers, shards, share, addresses, count, scripts } = parts
  const { upstreams, concerned, upstreamOf, home, shardsNow } = groups
  const calm = async (withinMs: number, slot?: number): Promise<Quiescence> =>
    allQuiescent(await Promise.all(concerned(slot).map((upstream) => upstream.calm(withinMs))))
  const clients = admitClients(parts)
  const listenOptions = {
    reusePort,
    share,
    strangers: admission.strangers,
    clients: () => [...routers].map(admittedOf),
  }
  const listener = await listen(wanted, listenOptions, clients.admit, clients.refuse)
  return {
    get wanted() {
      return { ...wanted, ...inSpec(listener.places), upstream: home(), shards: shardsNow() }
    },
    listenAt: listener.listenAt,
    endLogins: listener.endLogins,
    prepare(address, slot) {
      addresses.alsoKnow(address)
      return upstreamOf(slot ?? 0).prepare(address)
    },
    blocked: (slot) => concerned(slot).flatMap((upstream) => upstream.blocked()),
    calm,
    async hold({ slot, ...times }) {
      const found =
        times.leavesSilent === true ? noQuiescence : await calm(times.calmMs ?? drainOf(times), slot)
      if (found.long > 0) return notBegun(found)
      const held = allHeld(await Promise.all(concerned(slot).map((upstream) => upstream.hold(times))))
      return withCut(held, found)
    },
    async switchTo(address, slot, others, generation) {
      if (slot === undefined && upstreams.length > 1)
        throw new Refusal('order_not_applicable', 'the database is sharded: name a slot of the group')
      addresses.alsoKnow(address)
      const result = await upstreamOf(slot ?? 0).switchTo(address, others, generation)
      // Engines differ, and modules add commands.
      shards.areRulesOld = true
      for (const router of routers) router.session.triedRules = false
      return result
    },
    takeScripts: (engine, all) => scripts.take(addressText(engine), all),
    release(slot, hasFailed) {
      for (const upstream of concerned(slot)) upstream.release(hasFailed)
    },
    readTape: (slot) => upstreamOf(slot ?? 0).tape.read(),
    isHeld: (slot) => concerned(slot).every(({ isHeld }) => isHeld),
    know: addresses.know,
    forgetScripts: scripts.forget,
    peers: parts.ownPeers,
    clients: (query) => listClients(clientsIn(routers), query),
    report: () => ({
      host: wanted.host,
      port: listener.places.port,
      former: [...listener.former()],
      upstream: home(),
      shards: shardsNow(),
      isHeld: upstreams.some(({ isHeld }) => isHeld),
      connections: routers.size,
      commands: count.commands,
      traffic: { ...count, since: parts.since },
      behind: upstreams.flatMap(({ behind }) => behind),
      doubted: parts.doubts.seen,
      ...allSeen(upstreams.map(({ seen }) => seen)),
    }),
    async [Symbol.asyncDispose]() {
      parts.end()
      await listener[Symbol.asyncDispose]()
    },
  }
}

/** All parts except the listener. */
type Parts = ReturnType<typeof makeParts>

function makeParts(wanted: EndpointSpec, options: EndpointOptions, admission: Admission) {
  const { onCut = () => undefined, name = addressText(wanted), scripts: before, generations } = options
  const [count, since] = [createCount(), Date.now()]
  // One for all groups: a script of one group does no harm in the others.
  const scripts = createKnownScripts(before)
  const allowance = createAllowance()
  const onLogin = ({ visitor }: Connection) => admission.strangers.signIn(visitor)
  // A lost backend is no closed client, unless its router reports that.
  const ofBackends = { onLogin, onClosed: () => undefined, onCut: () => undefined }
  const routers = new Set<Router>()
  const ownPeers = createOwnPeers({
    clients: () => clientsIn(routers),
    allowance,
    end: ({ visitor }, why) => {
      for (const router of routers) if (router.visitor === visitor) endRouter(router, undefined, why)
    },
  })
  const peers = withOthers(ownPeers, options.others)
  const events = { count, allowance, scripts, admission, peers, ...ofBackends }
  const groups = createGroups(wanted, (address) =>
    createUpstream(address, wanted.upstreamTls, events, generations),
  )
  const { upstreams, slots, upstreamOf, firstSlotOf } = groups
  const { moveGroup = (address: Address, slot: number) => upstreamOf(slot).switchTo(address) } = options
  const addresses = createAddresses(wanted)
  const lookout = createLookout({
    ask: (at) => askAsClients({ ...at, tls: wanted.upstreamTls }, upstreams),
    primaries: () => upstreams.map(({ address }) => address),
    known: addresses.known,
    slots,
    move: (group, to) => moveGroup(to, firstSlotOf(group)),
  })
  const doubts = createDoubts()
  const shards: Shards = {
    upstreams,
    allowance,
    slots,
    rules: presumedRules,
    areRulesOld: true,
    lookout,
    doubts,
    peers,
    onCut,
  }
  const share = createShare(admission, addressText(wanted))
  const end = () => {
    lookout[Symbol.dispose]()
    for (const router of routers) dropRouter(router, TAKEN_AWAY)
    for (const upstream of upstreams) upstream[Symbol.dispose]()
    share[Symbol.dispose]()
  }
  return {
    wanted,
    name,
    admission,
    groups,
    addresses,
    shards,
    routers,
    share,
    doubts,
    count,
    since,
    scripts,
    ownPeers,
    end,
  }
}

/** Addresses of its shards, from the server. */
function createAddresses(wanted: EndpointSpec) {
  let known = addressesOf(wanted)
  return {
    known: () => known,
    know(addresses: typeof known) {
      known = addresses
    },
    alsoKnow(address: Address) {
      if (!isAmong(known, address)) known = [...known, address]
    },
  }
}

/** Accepts new clients. */
function admitClients({ wanted, name, admission, groups, shards, routers, share }: Parts) {
  const { owner } = groups.upstreams[DEFAULT_GROUP] ?? {}
  /** A client may get a link to each group besides its connection; with one group there is one link. */
  const weight = Math.ceil((1 + groups.upstreams.length) / 2)
  const refuse = (socket: Socket, why: string) =>
    shards.onCut({ client: remoteAddress(socket), via: [], why })
  const admit = (socket: Socket) => {
    if (!share.take(weight)) {
      owner?.onError(TOO_MANY)
      refuse(socket, TOO_MANY)
      rejectConnection(socket)
      return
    }
    const visitor = visitorOf(socket, name)
    beginPiece('takes a new client', visitor.crumb)
    const router = createRouter(socket, visitor, shards, resume)
    routers.add(router)
    const gone = () => {
      dropRouter(router)
      admission.strangers.remove(visitor)
      if (routers.delete(router)) share.leave(weight)
    }
    if (owner?.logins.asked !== false)
      admission.strangers.add(visitor, {
        endpoint: addressText(wanted),
        source: socket.remoteAddress ?? '',
        judge: () =>
          router.defaultBackend === undefined ? 'unknown' : judgeLogin(router.defaultBackend.connection),
        cut: (why) => {
          endRouter(router, why)
          gone()
        },
      })
    listenTo(router, gone)
    backendFor(router, DEFAULT_GROUP)
    endPiece()
  }
  return { admit, refuse }
}

function admittedOf(router: Router): Admitted {
  return {
    socket: router.client,
    login: () => router.defaultBackend?.connection.session.state.login ?? null,
    isIdle: () => !router.busy && router.pending.size === 0 && router.input.stash.length === 0,
    close: (why) => endRouter(router, undefined, why),
  }
}

function* clientsIn(routers: ReadonlySet<Router>) {
  for (const router of routers) {
    const { visitor, defaultBackend } = router
    yield {
      visitor,
      socket: router.client,
      requests: router.input.requests,
      connections: connectionsOf(router),
      state: defaultBackend?.connection.session.state,
    }
  }
}

/** `gone`: called when the client has left. */
function listenTo(router: Router, gone: () => void): void {
  const { client } = router
  const { crumb } = router.visitor
  const { allowance } = router.shards
  client.on('data', (chunk) => {
    if (!beginTurn(allowance, 'takes requests of', crumb, chunk.length)) {
      setClientBytesAside(router, chunk)
      return
    }
    takeClientBytes(router, chunk)
    endTurn(allowance)
  })
  client.on('pause', () => watchUnreadReplies(router))
  client.on('drain', () => {
    beginPiece('takes requests again of', crumb)
    for (const backend of router.backends) {
      if (backend === undefined) continue
      steerLink(backend.connection)
      forwardStash(backend.connection)
    }
    endPiece()
  })
  /** Thousands of clients may leave at the same time. */
  const leaves = (act: () => void) => runInSlice(allowance, 'ends the connection of', crumb, act)
  client.on('end', () =>
    leaves(() => {
      router.input.clientEnded = true
      endIfAnswered(router)
      client.setTimeout(LINGER_MS, () => dropRouter(router, LINGERED))
    }),
  )
  client.on('error', (cause) => leaves(() => dropRouter(router, troubleOf(cause))))
  client.on('close', () => leaves(gone))
}
