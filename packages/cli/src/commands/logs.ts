import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { proxyFolder, readLog, shardFolder } from '@fairlead/agent'
import { agentLog, type Config, serverLogs } from '@fairlead/server/settings'
import { listenForStop } from '../link/listen-for-stop.ts'
import { openContext } from '../link/open-context.ts'
import { CommandFault } from '../output/command-fault.ts'
import { exitCodes } from '../output/exit-codes.ts'
import { endQuietly, openTerminal } from '../output/terminal.ts'
import { LOCAL } from '../profiles/find-target.ts'
import { findDatabase } from './find-database.ts'

/** Parts with a log on this machine. */
export type LogPart = 'server' | 'agent' | 'proxy' | 'engine'

/** The options of `logs`. */
export interface LogsOptions {
  readonly follow?: boolean
  readonly lines: number
}

/** Logs are cut before they are longer. */
const MOST_BYTES = 16 * 1024 * 1024
const LOOK_EVERY_MS = 300

/** Prints the last lines of a part's log; with `follow` also new ones, until Ctrl-C. */
export async function showLogs(
  { home }: Pick<Config, 'home'>,
  env: NodeJS.ProcessEnv,
  [part, word]: readonly [LogPart, string | undefined],
  { follow = false, lines }: LogsOptions,
): Promise<void> {
  if ((part === 'engine') !== (word !== undefined))
    throw new CommandFault('usage', 'an engine, and nothing else, has the name of its database', {
      next: 'fairlead logs engine DATABASE',
    })
  const terminal = openTerminal(env, {}, endQuietly())
  const paths = word === undefined ? [pathOf(home, part)] : await pathsOfEngines(home, env, word)
  const tails = paths.map((path) => openTail(path, paths.length > 1 ? `${path}: ` : ''))
  const last = await Promise.all(tails.map(async (tail) => (await tail.read()).slice(-lines || Infinity)))
  for (const line of last.flat()) terminal.out(line)
  if (last.flat().length === 0 && lines > 0)
    terminal.say(`Nothing is logged in ${paths.join(', ')}; FAIRLEAD_LOG_LEVEL=info logs more\n`)
  if (!follow) return
  using stop = listenForStop({ gone: terminal.gone })
  while (!stop.signal.aborted) {
    await pause(LOOK_EVERY_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    for (const tail of tails) for (const line of await tail.read()) terminal.out(line)
  }
  if (!terminal.gone.aborted)
    process.exitCode = exitCodes[stop.why() === 'terminated' ? 'terminated' : 'interrupted'].code
}

function pathOf(home: string, part: LogPart): string {
  if (part === 'proxy') return proxyFolder(home).log
  if (part === 'agent') return agentLog(home)
  return serverLogs(home).find(existsSync) ?? serverLogs(home)[0]
}

/** All shards of a database, by its name; or one shard, like s3, for which no server is asked. */
async function pathsOfEngines(
  home: string,
  env: NodeJS.ProcessEnv,
  word: string,
): Promise<readonly string[]> {
  if (/^s\d+$/.test(word)) return [shardFolder(home, word).log]
  const terminal = openTerminal(env, {}, endQuietly())
  const link = await openContext(terminal, { profile: LOCAL }, 'table').link()
  const { uid } = await findDatabase(link, word)
  const shards = await link.api.listDatabaseShards({ params: { uid } })
  return shards.map((shard) => shardFolder(home, `s${shard.uid}`).log)
}

interface Tail {
  /** Returns the whole lines since the last reading. Throws CommandFault. */
  read(): Promise<readonly string[]>
}

function openTail(path: string, prefix: string): Tail {
  let from = 0
  let rest = Buffer.alloc(0)
  return {
    async read() {
      const { bytes, end } = await readLog(path, from, MOST_BYTES).catch((cause: unknown) => {
        throw unreadable(path, cause)
      })
      // A log that was cut begins anew.
      const all = Buffer.concat([end < from ? Buffer.alloc(0) : rest, bytes])
      from = end
      const whole = all.lastIndexOf('\n') + 1
      rest = all.subarray(whole)
      const text = all.subarray(0, whole).toString()
      return text === ''
        ? []
        : text
            .trimEnd()
            .split('\n')
            .map((line) => `${prefix}${line}\n`)
    },
  }
}

function unreadable(path: string, cause: unknown): unknown {
  if ((cause as { readonly code?: string }).code !== 'EACCES') return cause
  return new CommandFault('forbidden', `this user may not read ${path}`, {
    code: 'forbidden',
    cause,
    next: 'run it as the owner of FAIRLEAD_HOME',
  })
}
