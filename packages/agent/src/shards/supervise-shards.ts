import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  Refusal,
  type ShardPasswords,
  type ShardReport,
  type ShardSaving,
  type ShardSpec,
  type ShardUsers,
} from '@fairlead/api'
import { createMutex, type RunExclusive } from '@fairlead/engine'
import type { EngineTarget } from '../engine/ask-engine.ts'
import { type FoundShard, openShard, openShards } from '../folder/open-shards.ts'
import { shardFolder } from '../folder/shard-folder.ts'
import { boundLogs } from '../process/bound-log.ts'
import { createTicker } from '../process/ticker.ts'
import { RUNNING_MS } from './decide-next.ts'
import { type SupervisedShard, superviseShard } from './supervise-shard.ts'
import type { SupervisionSettings } from './supervision.ts'
import { keepUsersOfPorts, type PlaceOfShard } from './users-of-ports.ts'

/** All shards of a node. Dispose to end the supervision, not the processes. */
export interface SupervisedShards extends AsyncDisposable {
  /** Resolves when the spec is durable. Refuses while the shard is being removed. */
  put(id: string, spec: ShardSpec): Promise<ShardReport>
  /** Sets the limits of a shard's next process. Resolves when that is durable. */
  limit(id: string, limits: Pick<ShardSpec, 'memoryBytes' | 'evictionPolicy'>): Promise<void>
  /** Lets a shard save its data differently, in its running and next process; durable when it resolves. */
  saveAs(id: string, saving: ShardSaving): Promise<void>
  /** Lets the database's user of a shard sign in with these passwords only. */
  admit(id: string, passwords: ShardPasswords): Promise<void>
  /** Lets these users sign in to a shard, and no others of Fairlead's making; durable when it resolves. */
  letIn(id: string, users: ShardUsers): Promise<void>
  /** Sets a shard's certificate. Resolves when that is durable. */
  certify(id: string, certificate: NonNullable<ShardSpec['tls']>['certificate']): Promise<void>
  /** Resolves when the removal is durable; immediately for an unknown shard. */
  remove(id: string): Promise<void>
  /** See SupervisedShard.end. Refuses for an unknown shard. */
  end(id: string, startedAt: number): ShardReport
  /** Settings at the start of the last process; null if they, or the shard, are unknown. */
  baseline(id: string): Promise<Record<string, string> | null>
  /** The agent's login to the last process of a shard; undefined for an unknown shard. */
  target(id: string): EngineTarget | undefined
  /** Sorted by id. */
  report(): ShardReport[]
  /** Reports the known ones of these. For a moment, they are then looked at more often. */
  reportSome(ids: readonly string[]): ShardReport[]
  /** Pids of the running processes. */
  pids(): readonly number[]
  /** Ids of the shards whose engine does not answer. */
  down(): string[]
  /** Ports of all shards, running or not, with the cluster bus. */
  ports(): readonly number[]
  /** Hashes of its shards' module files. */
  modules(): readonly string[]
}

type SettingsOfNode = Omit<SupervisionSettings, 'silence' | 'onProcess' | 'ticker'> & {
  readonly silence: Omit<SupervisionSettings['silence'], 'serves'>
}

/** Supervises all shards under `home`. */
export async function superviseShards(
  home: string,
  { silence, ...others }: SettingsOfNode,
): Promise<SupervisedShards> {
  const shards = new Map<string, SupervisedShard>()
  const pids = rememberPids(shards)
  const serves = ({ host, port }: Address) =>
    [...shards.values()]
      .map((shard) => shard.report())
      .some(
        (one) => one.host === host && one.port === port && one.state === 'running' && one.silence === null,
      )
  const reports = () => [...shards.keys()].toSorted().flatMap((id) => shards.get(id)?.report() ?? [])
  const users = await keepUsersOfPorts(home, () => placesOf(shards), others.logger)
  const ticker = createTicker(RUNNING_MS)
  const own = { silence: { ...silence, serves }, onProcess: pids.forget, ticker }
  const settings: SupervisionSettings = { ...others, ...own, wall: users.within(others.wall) }
  const supervise = (found: FoundShard): SupervisedShard => {
    const { id } = found.folder
    const shard = superviseShard(settings, found, () => {
      shards.delete(id)
      pids.forget()
    })
    pids.forget()
    shards.set(id, shard)
    return shard
  }
  for (const found of await openShards(home, settings.logger)) supervise(found)
  const turns = createTurnsOfShards()
  const logs = boundLogs(() => [...shards.values()].map(({ log }) => log), settings.logger)
  return {
    put: (id, spec) =>
      turns.take(id, async () => {
        const known = shards.get(id)
        return known ? await known.put(spec) : supervise(await putFirst(home, id, spec, settings)).report()
      }),
    limit: (id, limits) => turns.take(id, async () => await shards.get(id)?.limit(limits)),
    saveAs: (id, saving) => turns.take(id, async () => await shards.get(id)?.saveAs(saving)),
    admit: (id, passwords) => turns.take(id, async () => await shards.get(id)?.admit(passwords)),
    letIn: (id, users) => turns.take(id, async () => await shards.get(id)?.letIn(users)),
    certify: (id, certificate) => turns.take(id, async () => await shards.get(id)?.certify(certificate)),
    end(id, startedAt) {
      const shard = shards.get(id)
      if (shard === undefined) throw new Refusal('unavailable', `there is no shard ${id}`)
      return shard.end(startedAt)
    },
    remove: (id) => turns.take(id, async () => await shards.get(id)?.remove()),
    target: (id) => shards.get(id)?.target(),
    report: reports,
    reportSome: (ids) => ids.flatMap((id) => shards.get(id)?.reportClosely() ?? []),
    baseline: async (id) => (await shards.get(id)?.baseline()) ?? null,
    pids: pids.all,
    down: () => downOf(shards),
    ports: () => [...shards.values()].flatMap(({ ports }) => ports),
    modules: () => [...shards.values()].flatMap(({ modules }) => modules),
    async [Symbol.asyncDispose]() {
      await turns.taken()
      await logs[Symbol.asyncDispose]()
      await Promise.all([...shards.values()].map((shard) => shard[Symbol.asyncDispose]()))
      ticker[Symbol.dispose]()
      await users[Symbol.asyncDispose]()
    },
  }
}

function downOf(shards: ReadonlyMap<string, SupervisedShard>): string[] {
  return [...shards.values()].filter((shard) => !shard.isUp()).map(({ id }) => id)
}

function placesOf(shards: ReadonlyMap<string, SupervisedShard>): readonly PlaceOfShard[] {
  return [...shards.values()].map((shard) => shard.place())
}

/** Caches the pids of running processes, which each report needs; refreshed after a start or an end. */
function rememberPids(shards: ReadonlyMap<string, SupervisedShard>) {
  let known: readonly number[] | null = null
  return {
    all(): readonly number[] {
      known ??= [...shards.values()].flatMap(({ pid }) => pid ?? [])
      return known
    },
    forget() {
      known = null
    },
  }
}

async function putFirst(
  home: string,
  id: string,
  spec: ShardSpec,
  { logger }: SupervisionSettings,
): Promise<FoundShard> {
  const folder = shardFolder(home, id)
  await folder.create()
  await folder.writeWanted({ spec, order: 1, gone: false })
  const found = await openShard(folder, logger)
  if (!found?.last) return { folder, wanted: { spec, order: 1, gone: false }, last: null }
  // The old spec was unreadable, but its process is known: it continues to serve, or is replaced.
  const { order, spec: started } = found.last
  const wanted = { spec, order: isDeepStrictEqual(started, spec) ? order : order + 1, gone: false }
  await folder.writeWanted(wanted)
  return { ...found, wanted }
}

/**
 * Runs work on one shard in sequence, so that each sees what the former has written. Shards do not wait for
 * each other: the disk accepts many writes at the same time.
 */
function createTurnsOfShards() {
  const shards = new Map<string, { readonly runExclusive: RunExclusive; begun: number }>()
  return {
    take<T>(id: string, work: () => Promise<T>): Promise<T> {
      const shard = shards.get(id) ?? { runExclusive: createMutex(), begun: 0 }
      shards.set(id, shard)
      shard.begun += 1
      return shard.runExclusive(work).finally(() => {
        shard.begun -= 1
        if (shard.begun === 0) shards.delete(id)
      })
    },
    /** Resolves when all started work has ended. */
    async taken(): Promise<void> {
      await Promise.all([...shards.values()].map(({ runExclusive }) => runExclusive(async () => undefined)))
    },
  }
}
