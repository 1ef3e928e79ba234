import { lstatSync } from 'node:fs'
import { chmod, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createTurns, isEngineUser, knowUsersOfPorts, usersOfPortsFile } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { EngineWall } from '../engine/engine-wall.ts'

/** The table of which user each engine of a node is. Disposing of it takes the table away: without an agent it is not known. */
export interface UsersOfPorts extends AsyncDisposable {
  /** A wall out of which no engine comes before its user is in the table. */
  within(wall: EngineWall): EngineWall
}

/** Where a shard is: its folder, the address of its engine, and the process, if it is there. */
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
 * Keeps the table for server, proxy and this process (engine/src/users-of-ports.ts): an engine that takes the port of another which has died is
 * known by its user, and told nothing. A shard is the user that its folder belongs to, and the one that its process is. What cannot be
 * told is left out, and judged as if there were no table: to refuse an engine wrongly is worse. Where root has not started us, all
 * engines are one user, and there is none.
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
  // It holds no secret, and its reader is another user.
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

/** One writing after the other. What cannot be written is taken away: an old table would refuse what has begun since. Never rejects. */
function createWriter(file: string, text: () => string, logger: Logger): () => Promise<void> {
  const inTurn = createTurns()
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
  return () => inTurn(() => write().catch(giveUp))
}

/**
 * The table is asked for at each start of an engine. It is made anew when a shard or its process is another, and after a time which is doubled as
 * long as they are the same: a process that has just begun gets its user a moment later.
 */
const LOOKED_AT_AFTER_MS = { least: 5_000, most: 60_000 }

/** `clock`: milliseconds that only rise. `read` makes a table of all. */
export function rememberTable(
  places: () => readonly PlaceOfShard[],
  read = tableOf,
  clock = (): number => performance.now(),
) {
  const { least, most } = LOOKED_AT_AFTER_MS
  // Null: not looked at yet. No places are places, too, whose table is not ''.
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
    /** A folder has, or may have, another owner. */
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

/** Null: it is gone. */
function ownerOf(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.uid ?? null
}
