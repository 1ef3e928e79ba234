import type { ShardSpec } from '@fairlead/api'
import { printable } from '@fairlead/engine'
import { readLog, readLogLine, redact } from '../process/engine-log.ts'

/** Only this much of the end of a log is read. */
const TAIL_BYTES = 64 * 1024
const MAX_LENGTH = 400
/** Warnings that engines print at every start, or about a requested end. */
const BANAL =
  /overcommit|Transparent Huge|somaxconn|TCP backlog|maxclients|no config file|Server initialized|bye bye|Received SIG|User requested shutdown|^\*\*\*|^Reading the configuration/i
/** The decisive line among the pages that an engine writes when it crashes or cannot read a snapshot. */
const CRASH = /crashed by signal|ASSERTION FAILED|guru meditation|Internal error in RDB/i

/** Shorter arguments are no secrets, and also occur in other words. */
const LEAST_SECRET = 4
/** Folder of the node's module files; people know a module by its name. */
const FOLDER_OF_MODULES = '/modules-of-node/'

/** Returns texts that an engine may print but no message may have: modules print refused arguments. */
export function secretsOf({
  adminPassword,
  userPassword,
  modules,
}: Pick<ShardSpec, 'adminPassword' | 'userPassword' | 'modules'>): readonly string[] {
  const args = modules.flatMap((module) => module.args).filter(({ length }) => length >= LEAST_SECRET)
  return [adminPassword, userPassword, ...args].toSorted((a, b) => b.length - a.length)
}

/**
 * Returns the last lines of an engine's log, from byte `from`, about its end: warnings, and lines in another
 * format (configuration errors, the loader); empty if none. `secrets` and the folder of modules are removed.
 */
export async function readLastWords(
  path: string,
  from: number,
  secrets: readonly string[] = [],
): Promise<string> {
  const { bytes } = await readLog(path, from, TAIL_BYTES)
  return pickLastWords(withoutFolder(redact(bytes.toString('utf8'), secrets)))
}

/** Clients also write to logs: a pattern without a fixed beginning would take quadratic time. */
function withoutFolder(text: string): string {
  const parts = text.split(FOLDER_OF_MODULES)
  const last = parts.pop() ?? ''
  const before = parts.map((part) =>
    part.slice(0, Math.max(part.lastIndexOf(' '), part.lastIndexOf('\n')) + 1),
  )
  return [...before, last].join('')
}

/** True if the engine could not listen because of its port. The C library's words, on every build. */
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
  // Clients (redis.log) and modules write there, too.
  return printable(crash ?? lines.slice(-3).join('; '), MAX_LENGTH)
}
