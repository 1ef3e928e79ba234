import { open } from 'node:fs/promises'

/** More than this of the end of a log is not looked at. */
const TAIL_BYTES = 64 * 1024
const MAX_LENGTH = 400
/** What engines print as a warning at every start, or about an end that was asked for. */
const BANAL =
  /overcommit|Transparent Huge|somaxconn|TCP backlog|maxclients|no config file|Server initialized|bye bye|Received SIG|User requested shutdown|^\*\*\*|^Reading the configuration/i
/** Of the pages that an engine writes when it crashes, this line says it. */
const CRASH = /crashed by signal|ASSERTION FAILED|guru meditation/i

/**
 * The last lines of an engine's log, from byte `from` on, that say why it ended: warnings, and what is no log line
 * (configuration errors, the loader). Empty when there are none. `secrets` are struck out.
 */
export async function readLastWords(
  path: string,
  from: number,
  secrets: readonly string[] = [],
): Promise<string> {
  const words = pickLastWords(await readTail(path, from))
  return secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), words)
}

/** Picks those lines from the text of a log. */
export function pickLastWords(text: string): string {
  const lines = text
    .split('\n')
    .map(readLine)
    .filter((line) => line !== null && line !== '' && !BANAL.test(line))
  const crash = lines.find((line) => line !== null && CRASH.test(line))
  return crash ?? lines.slice(-3).join('; ').slice(0, MAX_LENGTH)
}

/** "12:M 21 Nov 2026 03:51:02.123 # Failed listening" → "Failed listening". Null for less than a warning. */
function readLine(line: string): string | null {
  const match = /^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$/.exec(line.trim())
  if (!match) return line.trim()
  return match[1] === '#' ? (match[2]?.trim() ?? null) : null
}

async function readTail(path: string, from: number): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    const start = Math.max(Math.min(from, size), size - TAIL_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    return buffer.toString('utf8', 0, bytesRead)
  } catch (cause) {
    // Without a log there are no last words.
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw cause
  }
}
