import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '../proof/until.ts'
import type { Member, Servers } from './start-servers.ts'
import { type Blow, type Strike, struckFile } from './strike.ts'

/** A server that was struck, and where. */
export interface Struck {
  readonly member: Member
  readonly point: string
}

/** Servers of which some are struck now. Disposed of, all go on. */
export interface Field extends AsyncDisposable {
  readonly servers: Servers
  /** Clients ask here for the database: one that stands answers. */
  readonly url: string
  /** A server that is not struck. */
  standing(): Member
  /** The next one that comes to this point is struck, and the agent with it. */
  order(strike: Pick<Strike, 'at' | 'nth' | 'how'>, agent?: 'SIGKILL' | 'SIGSTOP'): void
  /** The one that followed the last order. */
  struck(): Struck | undefined
  /** The time of PostgreSQL leaps over its leases. */
  endLease(member: Member): Promise<void>
  untilLeaseIsOver(member: Member): Promise<void>
  /** Another one holds the database. */
  isTakenFrom(member: Member, databaseUid: number): Promise<boolean>
  /** And the agent has heard of the epoch of that one. */
  isFenced(member: Member, databaseUid: number): Promise<boolean>
  letGoOn(member: Member, how: Blow): Promise<void>
  /** Until all of them work again. */
  settle(): Promise<void>
}

/** None is struck yet. */
export async function createField(servers: Servers): Promise<Field> {
  const { fairlead, members, order, ask } = servers
  await using opened = new AsyncDisposableStack()
  const down = new Map<Member, number>()
  const standing = () => {
    const found = members.find((member) => !down.has(member))
    if (found === undefined) throw new Error('no server stands')
    return found
  }
  const letGoOn = async (member: Member, how: Blow) => {
    // What is stopped may stop others for some seconds: within a transaction, until PostgreSQL ends that.
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
  // What is stopped cannot be ended.
  opened.defer(() => {
    for (const { pid } of [fairlead.agent, ...members.map(({ server }) => server)]) signal(pid, 'SIGCONT')
    for (const { way } of members) way.goOn()
  })
  const url = await startFront(() => members.filter((member) => !down.has(member)), opened)
  const owned = opened.move()
  return {
    ...{ servers, url, standing, letGoOn, isTakenFrom },
    order({ at, nth, how }, agent) {
      const who = agent === undefined ? null : { home: fairlead.home, signal: agent }
      giveOrder(order, { at, nth, how, butNot: [...down.values()], agent: who })
    },
    struck() {
      const found = readStruck(order)
      if (found === undefined) return undefined
      const { pid, point, how } = found
      const member = members.find(({ server }) => server.pid === pid)
      if (member === undefined) throw new Error(`process ${pid} is none of the servers`)
      if (how !== 'clock') down.set(member, pid)
      return { member, point }
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

function giveOrder(order: string, strike: Strike): void {
  rmSync(struckFile(order), { force: true })
  // Whole at once: it is read at each effect.
  writeFileSync(`${order}.new`, JSON.stringify(strike))
  renameSync(`${order}.new`, order)
}

function readStruck(order: string) {
  if (!existsSync(`${order}.followed`)) return undefined
  rmSync(`${order}.followed`)
  return JSON.parse(readFileSync(struckFile(order), 'utf8')) as { pid: number; point: string; how: Blow }
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

/** What servers were refused, in their own words: "lease" by the store, "epoch" by agents and proxies. */
export function refusedIn({ members }: Servers): readonly string[] {
  const logs = members.map(({ log }) => readFileSync(log, 'utf8')).join('')
  const words = { lease: 'another server works on database', epoch: 'is held under epoch' }
  return Object.entries(words).flatMap(([name, said]) => (logs.includes(said) ? [name] : []))
}

/** Passes what clients ask on to a server that stands. */
async function startFront(standing: () => readonly Member[], opened: AsyncDisposableStack): Promise<string> {
  const ask = async (path: string, authorization: string) => {
    for (const member of standing()) {
      const signal = AbortSignal.timeout(400)
      const asked = fetch(new URL(path, member.url()), { headers: { authorization }, signal })
      const answer = await asked
        .then(async (found) => [found.status, await found.text()] as const)
        .catch(() => null)
      // One that was struck just now gives none.
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
