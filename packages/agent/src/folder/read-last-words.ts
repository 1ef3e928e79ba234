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

/**
 * The last lines of an engine's log, from byte `from` on, that say why it ended: warnings, and what is no log line
 * (configuration errors, the loader). Empty when there are none. `secrets` are struck out.
 */
export async function readLastWords(
  path: string,
  from: number,
  secrets: readonly string[] = [],
): Promise<string> {
  const { bytes } = await readLog(path, from, TAIL_BYTES)
  return pickLastWords(strikeOut(bytes.toString('utf8'), secrets))
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
