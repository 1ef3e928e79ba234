import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '../../proof/until.ts'
import { type FaultKind, type FaultOrder, injectedFile } from './server-fault.ts'
import type { Member, Servers } from './start-servers.ts'

/** A server into which a fault was injected, and at which point. */
export interface FaultyServer {
  readonly member: Member
  readonly point: string
}

/** The servers, some of which are faulty now. Disposed of, all go on. */
export interface FaultInjector extends AsyncDisposable {
  readonly servers: Servers
  /** The URL at which clients ask for the database: a server that is not faulty answers. */
  readonly url: string
  /** A server that is not faulty. */
  healthy(): Member
  /** Orders a fault: the next server that comes to this point gets it, and the agent gets the signal. */
  order(fault: Pick<FaultOrder, 'at' | 'nth' | 'how'>, agent?: 'SIGKILL' | 'SIGSTOP'): void
  /** The server that got the fault of the last order. */
  faulty(): FaultyServer | undefined
  /** Ends its leases at once, as if PostgreSQL's clock had passed them. */
  endLease(member: Member): Promise<void>
  untilLeaseIsOver(member: Member): Promise<void>
  /** Whether another server holds the database. */
  isTakenFrom(member: Member, databaseUid: number): Promise<boolean>
  /** The same, and the agent knows the epoch of that server. */
  isFenced(member: Member, databaseUid: number): Promise<boolean>
  resume(member: Member, how: FaultKind): Promise<void>
  /** Waits until all servers work again. */
  settle(): Promise<void>
}

/** Starts with no server faulty. */
export async function createFaultInjector(servers: Servers): Promise<FaultInjector> {
  const { fairlead, members, order, ask } = servers
  await using opened = new AsyncDisposableStack()
  const down = new Map<Member, number>()
  const healthy = () => {
    const found = members.find((member) => !down.has(member))
    if (found === undefined) throw new Error('no server is healthy')
    return found
  }
  const resume = async (member: Member, how: FaultKind) => {
    // A stopped server may block others for some seconds: if it was in a transaction, until PostgreSQL ends
    // that.
    if (how === 'kill') await member.server.start()
    if (how === 'stop') process.kill(member.server.pid, 'SIGCONT')
    if (how === 'hang') member.way.goOn()
    if (how === 'reset') await member.way.restart()
    down.delete(member)
  }
  const rowOf = (uid: number) => readBucket(ask, uid % 256)
  const epochsFile = join(fairlead.home, 'agent', 'epochs.json')
  const isTakenFrom = async (member: Member, uid: number) => {
    const { pid } = await rowOf(uid)
    return pid !== undefined && pid !== down.get(member)
  }
  // A stopped process cannot end, so it is resumed first.
  opened.defer(() => {
    for (const { pid } of [fairlead.agent, ...members.map(({ server }) => server)]) signal(pid, 'SIGCONT')
    for (const { way } of members) way.goOn()
  })
  let found: FaultyServer | undefined
  const url = await startFront(() => members.filter((member) => !down.has(member)), opened)
  const owned = opened.move()
  return {
    servers,
    url,
    healthy,
    resume,
    isTakenFrom,
    order({ at, nth, how }, agent) {
      found = undefined
      const who = agent === undefined ? null : { home: fairlead.home, signal: agent }
      giveOrder(order, { at, nth, how, butNot: [...down.values()], agent: who })
    },
    faulty() {
      const injected = readInjected(order)
      if (injected === undefined) return found
      const { pid, point, how } = injected
      const member = members.find(({ server }) => server.pid === pid)
      if (member === undefined) throw new Error(`process ${pid} is none of the servers`)
      if (how !== 'clock') down.set(member, pid)
      found = { member, point }
      return found
    },
    endLease: (member) => endLease(ask, down.get(member)),
    untilLeaseIsOver: (member) => untilLeaseIsOver(ask, down.get(member)),
    async isFenced(member, uid) {
      if (!(await isTakenFrom(member, uid))) return false
      // The first epoch of all is not kept.
      const kept = existsSync(epochsFile) ? readFileSync(epochsFile, 'utf8') : '{}'
      return ((JSON.parse(kept) as Record<string, number>)[uid % 256] ?? 1) >= (await rowOf(uid)).epoch
    },
    async settle() {
      rmSync(order, { force: true })
      await servers.untilAllHoldSome()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function giveOrder(order: string, fault: FaultOrder): void {
  rmSync(injectedFile(order), { force: true })
  // Written in one step, because it is read at each effect.
  writeFileSync(`${order}.new`, JSON.stringify(fault))
  renameSync(`${order}.new`, order)
}

function readInjected(order: string) {
  if (!existsSync(`${order}.followed`)) return undefined
  rmSync(`${order}.followed`)
  return JSON.parse(readFileSync(injectedFile(order), 'utf8')) as {
    pid: number
    point: string
    how: FaultKind
  }
}

async function endLease(ask: Servers['ask'], pid: number | undefined): Promise<void> {
  await ask(`update servers set seen_at = 0 where name like '%:${pid}:%'`)
  await ask(`update buckets set expires_at = 1 where holder like '%:${pid}:%'`)
}

async function readBucket(ask: Servers['ask'], bucket: number) {
  const [row] = await ask(`select holder, epoch from buckets where bucket = ${bucket}`)
  return { pid: pidIn(row?.['holder']), epoch: Number(row?.['epoch']) }
}

async function untilLeaseIsOver(ask: Servers['ask'], pid: number | undefined): Promise<void> {
  const now = 'extract(epoch from clock_timestamp()) * 1000'
  const left = `select 1 from buckets where holder like '%:${pid}:%' and expires_at > ${now} limit 1`
  await until('its leases are over', async () => (await ask(left)).length === 0)
}

/** The kinds of refusals in the logs of servers: "lease" by the store, "epoch" by agents and proxies. */
export function refusedIn({ members }: Servers): readonly string[] {
  const logs = members.map(({ log }) => readFileSync(log, 'utf8')).join('')
  const words = { lease: 'another server works on database', epoch: 'is held under epoch' }
  return Object.entries(words).flatMap(([name, said]) => (logs.includes(said) ? [name] : []))
}

/** Forwards requests of clients to a server that is not faulty. */
async function startFront(healthy: () => readonly Member[], opened: AsyncDisposableStack): Promise<string> {
  const ask = async (path: string, authorization: string) => {
    // A server that has just got a fault gives no answer; on a busy machine, another one may be late.
    for (const withinMs of [400, 2_000, 10_000])
      for (const member of healthy()) {
        const signal = AbortSignal.timeout(withinMs)
        const asked = fetch(new URL(path, member.url()), { headers: { authorization }, signal })
        const answer = await asked
          .then(async (found) => [found.status, await found.text()] as const)
          .catch(() => null)
        if (answer !== null) return answer
      }
    return [503, ''] as const
  }
  const front = createServer((request, response) => {
    void ask(request.url ?? '', request.headers.authorization ?? '').then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    )
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  opened.defer(() => {
    front.closeAllConnections()
    front.close()
  })
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

function pidIn(holder: unknown): number | undefined {
  return typeof holder === 'string' ? Number(holder.split(':')[1]) : undefined
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
