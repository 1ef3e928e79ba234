import { chmod, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type Address, type EndpointReport, Refusal, TURNS_SOCKET, type WantedEndpoint } from '@fairlead/api'
import { knowUsersOfPorts, usersOfPortsFile } from '@fairlead/engine'
import { openGenerations } from '../handover/cursor-generations.ts'
import { whyUnreachable } from '../handover/why-unreachable.ts'
import { answerTurns } from '../heartbeat/answer-turns.ts'
import { makeBreadcrumbs } from '../heartbeat/breadcrumb.ts'
import { startHeartbeat } from '../heartbeat/start-heartbeat.ts'
import { addressesOf } from '../listen/addresses-of.ts'
import { createAdmission } from '../listen/admission.ts'
import type { Log } from '../listen/cut-log.ts'
import { holdHome } from '../listen/hold-home.ts'
import { checkTls } from '../listen/listen.ts'
import { whyItCannotListen } from '../listen/why-it-cannot-listen.ts'
import { openSentinel } from '../sentinel/sentinel.ts'
import { createHost, type HostedEndpoint } from '../workers/endpoint-host.ts'
import { createWorkerHost } from '../workers/worker-host.ts'
import { type ProxyHandlers, serveControl } from './control.ts'
import { readWanted, type Wanted, writeWanted } from './wanted-file.ts'

const LISTEN_AGAIN_MS = 500

/**
 * Serves the endpoints that were wanted when it last ran, and takes orders at `socketPath`. What is wanted is on disk
 * before an order is answered, but for a switch: nobody waits for the disk then, and the next put of the endpoint does.
 * Throws when another proxy has this home. `onBroken`: one of several workers has ended, and the process is to end.
 */
export async function createProxy(options: {
  readonly home: string
  readonly socketPath: string
  /** Where to answer as a Sentinel; port 0: nowhere. */
  readonly sentinel: { readonly host: string; readonly port: number }
  /** Threads that serve endpoints; 1: this one, and no other. */
  readonly workers: number
  readonly onBroken: (why: string) => void
  readonly log: Log
}): Promise<AsyncDisposable> {
  const { home, socketPath, workers, onBroken, log } = options
  await mkdir(home, { recursive: true, mode: 0o700 })
  await chmod(home, 0o700)
  const path = join(home, 'endpoints.json')
  const usersOfPorts = usersOfPortsFile(basename(home) === 'own' ? dirname(resolve(home)) : home)
  await using stack = new AsyncDisposableStack()
  stack.use(knowUsersOfPorts(usersOfPorts))
  stack.use(await holdHome(home, socketPath))

  const breadcrumbs = makeBreadcrumbs(1 + (workers === 1 ? 0 : workers))
  stack.use(answerTurns(breadcrumbs, 0))
  const wanted = new Map<string, WantedEndpoint>(Object.entries(await readWanted(path)))
  const admission = createAdmission()
  const generations = stack.use(await openGenerations(join(home, 'cursors.json'), log))
  const open = new Map<string, HostedEndpoint>()
  const failures = new Map<string, string>()
  const turns = createTurns()
  const host = stack.use(
    workers === 1
      ? createHost({ admission, generations }, log)
      : await createWorkerHost({
          ...{ count: workers, usersOfPorts, admission, generations },
          ...{ log, breadcrumbs, onBroken },
        }),
  )
  stack.use(startHeartbeat({ breadcrumbs, socketPath: join(dirname(socketPath), TURNS_SOCKET) }, log))
  stack.defer(async () => {
    await Promise.all([...open.values()].map((endpoint) => endpoint[Symbol.asyncDispose]()))
  })

  const sentinel =
    options.sentinel.port === 0
      ? null
      : stack.use(
          await openSentinel({
            ...options.sentinel,
            admission,
            databases: () =>
              [...wanted].flatMap(([id, { name, upstream, replicas = [] }]) => {
                const primary = open.get(id)?.wanted.upstream ?? upstream
                if (name === undefined) return []
                // After a switch the primary is among them until somebody tells us the new ones.
                return [{ name, primary, replicas: replicas.filter((each) => !isSame(each, primary)) }]
              }),
            onTrouble: (why) => log('sentinel cannot listen', { why }),
          }),
        )
  /** What could not be written is written with the next put, also when that changes nothing. */
  let isSaved = true
  const save = async () => {
    isSaved = false
    await writeWanted(path, Object.fromEntries(wanted) satisfies Wanted)
    isSaved = true
  }
  let saveIsDue = false
  /** What is switched until it begins is written in one go. */
  const saveSoon = () => {
    isSaved = false
    if (saveIsDue) return
    saveIsDue = true
    const saved = turns(() => {
      saveIsDue = false
      return save()
    })
    saved.catch((cause: unknown) => log('what is wanted cannot be written', { why: String(cause) }))
  }
  stack.defer(() => turns(async () => undefined))
  const start = async (id: string): Promise<void> => {
    const wish = wanted.get(id)
    if (wish === undefined || open.has(id)) return
    try {
      open.set(id, await host.open(id, wish))
      failures.delete(id)
      log('endpoint listens', { id, port: wish.port })
    } catch (cause) {
      const why = await whyItCannotListen(wish, cause)
      if (failures.get(id) !== why) log('endpoint cannot listen', { id, why })
      failures.set(id, why)
    }
  }
  const stop = async (id: string): Promise<void> => {
    const endpoint = open.get(id)
    open.delete(id)
    failures.delete(id)
    await endpoint?.[Symbol.asyncDispose]()
  }
  const find = (id: string): HostedEndpoint => {
    const endpoint = open.get(id)
    if (endpoint === undefined)
      throw new Refusal('not_found', failures.get(id) ?? `there is no endpoint ${id}`)
    return endpoint
  }
  const switchTo = async (id: string, upstream: WantedEndpoint['upstream'], slot?: number) => {
    const endpoint = find(id)
    const result = await endpoint.switchTo(upstream, slot)
    sentinel?.look()
    const wish = wanted.get(id)
    // Nobody waits for the disk: killed before it is written, we begin with the old one until we are told again.
    const { upstream: first, shards } = endpoint.wanted
    if (wish !== undefined) wanted.set(id, { ...wish, upstream: first, shards })
    saveSoon()
    log('endpoint re-pointed', { id, to: `${upstream.host}:${upstream.port}`, ...result })
    return result
  }
  const handlers: ProxyHandlers = {
    reportProxy: async () => ({
      pid: process.pid,
      rssBytes: process.memoryUsage.rss(),
      endpoints: await Promise.all([...wanted.keys()].toSorted().map((id) => reportOf(id))),
      sentinel: sentinel?.report() ?? { ...options.sentinel, ...noSentinel },
    }),
    putEndpoint: async ({ params: { id }, body }) => {
      if (body.tls !== null) checkTls(body.tls)
      await turns(async () => {
        const before = wanted.get(id)
        if (before !== undefined && JSON.stringify(before) === JSON.stringify(body))
          return isSaved ? start(id) : save().then(() => start(id))
        wanted.set(id, body)
        await save()
        if (before !== undefined && !servesAlike(before, body)) await stop(id)
        else if (body.tls !== null && body.tls.cert !== before?.tls?.cert)
          await open.get(id)?.renewTls(body.tls)
        await open.get(id)?.know(addressesOf(body))
        await start(id)
        sentinel?.look()
      })
      const endpoint = open.get(id)
      if (endpoint === undefined) throw new Refusal('unavailable', `it cannot listen: ${failures.get(id)}`)
      for (const { upstream, slot } of moved(endpoint.wanted, body)) await switchTo(id, upstream, slot)
      return reportOf(id)
    },
    removeEndpoint: async ({ params: { id } }) => {
      await turns(async () => {
        wanted.delete(id)
        await save()
        await stop(id)
        sentinel?.look()
      })
      return { id }
    },
    holdEndpoint: ({ params: { id }, body: { deadlineMs, drainMs, slot } }) =>
      find(id).hold({
        deadlineMs,
        ...(drainMs !== undefined && { drainMs }),
        ...(slot !== undefined && { slot }),
      }),
    giveUpBlocked: async ({ params: { id }, body: { slot } }) => ({
      addresses: [...(await find(id).blocked(slot))],
    }),
    prepareEndpoint: async ({ params: { id }, body: { upstream, slot } }) => {
      const endpoint = find(id)
      const { upstreamTls: tls } = endpoint.wanted
      const isNeedless = (await endpoint.report()).connections === 0
      const [prepared, unreachable] = await Promise.all([
        endpoint.prepare(upstream, slot),
        isNeedless ? undefined : whyUnreachable({ ...upstream, tls }),
      ])
      return { prepared, unreachable: unreachable ?? null }
    },
    takeScripts: async ({ params: { id }, body: { upstream, all } }) => find(id).takeScripts(upstream, all),
    switchEndpoint: ({ params: { id }, body }) => switchTo(id, body.upstream, body.slot),
    releaseEndpoint: async ({ params: { id }, body: { slot } }) => {
      await find(id).release(slot)
      return reportOf(id)
    },
    listClients: async ({ params: { id }, query }) => find(id).clients(query),
  }
  const reportOf = async (id: string): Promise<EndpointReport> => {
    const endpoint = open.get(id)
    const wish = wanted.get(id)
    if (endpoint !== undefined) {
      const { isHeld, ...rest } = await endpoint.report()
      return { id, ...rest, state: isHeld ? 'held' : 'serving', why: '' }
    }
    if (wish === undefined) throw new Refusal('not_found', `there is no endpoint ${id}`)
    const { host, port, upstream, shards } = wish
    return {
      id,
      host,
      port,
      upstream,
      shards,
      ...nothingYet,
      state: 'failed',
      why: failures.get(id) ?? 'it is being opened',
    }
  }

  for (const id of wanted.keys()) await start(id)
  // A port may still belong to whoever had it before.
  const timer = setInterval(() => {
    for (const id of failures.keys()) void turns(() => start(id))
  }, LISTEN_AGAIN_MS)
  stack.defer(() => clearInterval(timer))
  stack.use(await serveControl(socketPath, handlers, log))
  stack.defer(() => rm(socketPath, { force: true }))
  log('proxy runs', { pid: process.pid, endpoints: wanted.size, workers })
  const running = stack.move()
  return { [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const nothingYet = {
  connections: 0,
  commands: 0,
  heldMsTotal: 0,
  heldMsLast: 0,
  repoints: 0,
  failedHolds: 0,
  behind: [],
  errors: 0,
  lastError: '',
}

const noSentinel = { state: 'off', why: '', connections: 0, databases: 0 } as const

/**
 * Connections need not go: another upstream moves them, another certificate is shown to those who come, and what the Sentinel
 * answerer tells is not theirs.
 */
function servesAlike(before: WantedEndpoint, after: WantedEndpoint): boolean {
  const own = ({ upstream: _, name: __, replicas: ___, shards, tls, ...rest }: WantedEndpoint) => {
    // Which ranges are one group counts, wherever it is.
    const groupOf = (at: Address) => shards?.findIndex(({ upstream }) => isSame(upstream, at))
    const ranges = shards?.map(({ first, last, upstream }) => [first, last, groupOf(upstream)]) ?? null
    return JSON.stringify({ ...rest, speaksTls: tls !== null, shards: ranges })
  }
  return own(before) === own(after)
}

/** What has to be switched, so that `now` becomes `wish`, which differs only in upstreams. */
function moved(
  now: WantedEndpoint,
  wish: WantedEndpoint,
): readonly { readonly upstream: WantedEndpoint['upstream']; readonly slot?: number }[] {
  if (wish.shards === null) return isSame(wish.upstream, now.upstream) ? [] : [{ upstream: wish.upstream }]
  return wish.shards
    .filter(({ upstream }, n) => !isSame(upstream, now.shards?.[n]?.upstream))
    .map(({ upstream, first }) => ({ upstream, slot: first }))
}

function isSame(one: Address, other: Address | undefined): boolean {
  return one.host === other?.host && one.port === other.port
}

/** Does one thing after the other, whoever asked. */
function createTurns(): (act: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (act) => {
    const mine = last.then(act)
    last = mine.catch(() => undefined)
    return mine
  }
}
