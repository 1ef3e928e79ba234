import { lstatSync } from 'node:fs'
import { chmod, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createMutex, isEngineUser, knowUsersOfPorts, usersOfPortsFile } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { EngineWall } from '../engine/engine-wall.ts'

/** Table of the engines' users. Dispose to remove it: without an agent the users are unknown. */
export interface UsersOfPorts extends AsyncDisposable {
  /** Returns a wall that starts no engine before its user is in the table. */
  within(wall: EngineWall): EngineWall
}

/** Place of a shard: its folder, its engine's address, and its process, if running. */
export interface PlaceOfShard {
  readonly folder: string
  readonly host: string
  readonly port: number
  readonly pid: number | null
}

const SAID_EVERY_MS = 1_000

const oneUser: UsersOfPorts = {
  within: (wall) => wall,
  async [Symbol.asyncDispose]() {
    // There is no table.
  },
}

/**
 * Keeps the table for server, proxy and this process (engine/src/users-of-ports.ts): an engine that takes a
 * dead one's port is recognized by its user, and gets no secret. A shard's users are its folder's owner and
 * its process's; unknown ones are omitted and judged as without a table, because wrongly refusing an engine
 * is worse. Unless root has started us, all engines have one user, and there is no table.
 */
export async function keepUsersOfPorts(
  home: string,
  places: () => readonly PlaceOfShard[],
  logger: Logger,
): Promise<UsersOfPorts> {
  if (process.geteuid?.() !== 0) return oneUser
  const file = usersOfPortsFile(join(resolve(home), 'proxy'))
  await mkdir(dirname(dirname(file)), { recursive: true, mode: 0o700 })
  await mkdir(dirname(file), { recursive: true })
  // It has no secret, and its reader is another user.
  await chmod(dirname(file), 0o755)
  const table = rememberTable(places)
  const write = createWriter(file, table.text, logger)
  const known = knowUsersOfPorts(file)
  const end = new AbortController()
  const running = (async () => {
    while (!end.signal.aborted) {
      await write()
      await delay(SAID_EVERY_MS, undefined, { signal: end.signal }).catch(() => undefined)
    }
  })()
  return {
    within: (wall) => ({
      ...wall,
      async command(folder, start) {
        const command = await wall.command(folder, start)
        table.forget()
        await write()
        return command
      },
    }),
    async [Symbol.asyncDispose]() {
      end.abort()
      await running
      known[Symbol.dispose]()
      await rm(file, { force: true })
    },
  }
}

/** Writes in sequence; never rejects. On failure, removes the table: an old one would refuse new engines. */
function createWriter(file: string, text: () => string, logger: Logger): () => Promise<void> {
  const runExclusive = createMutex()
  let written = ''
  let told = false
  const write = async () => {
    const now = text()
    if (now === written) return await utimes(file, new Date(), new Date())
    const draft = `${file}.draft`
    await writeFile(draft, now)
    await chmod(draft, 0o644)
    await rename(draft, file)
    written = now
  }
  const giveUp = async (cause: unknown) => {
    written = ''
    await rm(file, { force: true }).catch(() => undefined) // it holds for some seconds only
    if (!told) logger.warn({ err: cause }, 'the table of the engines’ users cannot be written')
    told = true
  }
  return () => runExclusive(() => write().catch(giveUp))
}

/**
 * The table is needed at each start of an engine. It is refreshed when a shard or its process has changed,
 * and after a time that doubles while they are unchanged: a process that has just begun gets its user
 * slightly later.
 */
const LOOKED_AT_AFTER_MS = { least: 5_000, most: 60_000 }

/** `clock`: monotonic ms. `read` makes a table of all. */
export function rememberTable(
  places: () => readonly PlaceOfShard[],
  read = tableOf,
  clock = (): number => performance.now(),
) {
  const { least, most } = LOOKED_AT_AFTER_MS
  // Null: not read yet. An empty list of places has a table, too, which is not ''.
  const none = { of: null as string | null, at: 0, forMs: least, text: '' }
  let known = none
  return {
    text(): string {
      const all = places()
      const of = all.map(({ folder, host, port, pid }) => `${folder} ${host}:${port} ${pid}`).join()
      const now = clock()
      const isSame = of === known.of
      if (!isSame || now - known.at > known.forMs)
        known = { of, at: now, forMs: isSame ? Math.min(most, known.forMs * 2) : least, text: read(all) }
      return known.text
    },
    /** Call when a folder has, or may have, another owner. */
    forget() {
      known = none
    },
  }
}

function tableOf(places: readonly PlaceOfShard[]): string {
  const table: Record<string, number[]> = {}
  for (const { folder, host, port, pid } of places) {
    const owners = [ownerOf(folder), ...(pid === null ? [] : [ownerOf(`/proc/${pid}`)])]
    const engines = owners.filter((uid) => uid !== null).filter(isEngineUser)
    const at = `${host}:${port}`
    if (engines.length > 0) table[at] = [...new Set([...(table[at] ?? []), ...engines])]
  }
  return JSON.stringify(table)
}

/** Null if it is gone. */
function ownerOf(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.uid ?? null
}
