import type { ShardSpec } from '@fairlead/api'
import { printable } from '@fairlead/engine'
import { readLog, readLogLine, strikeOut } from '../process/engine-log.ts'

/** Only so much of the end of a log is read. */
const TAIL_BYTES = 64 * 1024
const MAX_LENGTH = 400
/** What engines print as a warning at every start, or about an end that was asked for. */
const BANAL =
  /overcommit|Transparent Huge|somaxconn|TCP backlog|maxclients|no config file|Server initialized|bye bye|Received SIG|User requested shutdown|^\*\*\*|^Reading the configuration/i
/** Of the pages that an engine writes when it crashes, or cannot read a snapshot, this line says it. */
const CRASH = /crashed by signal|ASSERTION FAILED|guru meditation|Internal error in RDB/i

/** Shorter words of arguments are no secrets, and are in other words, too. */
const LEAST_SECRET = 4
/** Where this node keeps the files of modules; people know a module by its name. */
const FOLDER_OF_MODULES = '/modules-of-node/'

/** What an engine with this specification may print, and no message may have: modules name arguments that they refuse. */
export function secretsOf({
  adminPassword,
  userPassword,
  modules,
}: Pick<ShardSpec, 'adminPassword' | 'userPassword' | 'modules'>): readonly string[] {
  const args = modules.flatMap((module) => module.args).filter(({ length }) => length >= LEAST_SECRET)
  return [adminPassword, userPassword, ...args].toSorted((a, b) => b.length - a.length)
}

/**
 * The last lines of an engine's log, from byte `from` on, that say why it ended: warnings, and what is no log line
 * (configuration errors, the loader). Empty when there are none. `secrets` are struck out, and the folder of modules.
 */
export async function readLastWords(
  path: string,
  from: number,
  secrets: readonly string[] = [],
): Promise<string> {
  const { bytes } = await readLog(path, from, TAIL_BYTES)
  return pickLastWords(withoutFolder(strikeOut(bytes.toString('utf8'), secrets)))
}

/** Clients write to logs, too: a pattern that begins anywhere would take the square of the time. */
function withoutFolder(text: string): string {
  const parts = text.split(FOLDER_OF_MODULES)
  const last = parts.pop() ?? ''
  const before = parts.map((part) =>
    part.slice(0, Math.max(part.lastIndexOf(' '), part.lastIndexOf('\n')) + 1),
  )
  return [...before, last].join('')
}

/** The engine could not listen: another process has its port. In the words of the C library, on every build. */
export function saysPortTaken(lastWords: string): boolean {
  return /Address already in use/i.test(lastWords)
}

/** Picks those lines from the text of a log. */
export function pickLastWords(text: string): string {
  const lines = text
    .split('\n')
    .map(readLogLine)
    .filter(({ level }) => level === null || level === '#')
    .map((line) => line.text)
    .filter((line) => line !== '' && !BANAL.test(line))
  const crash = lines.find((line) => CRASH.test(line))
  // Clients write there too (redis.log), and modules.
  return printable(crash ?? lines.slice(-3).join('; '), MAX_LENGTH)
}
