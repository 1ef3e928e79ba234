import { codeOf } from '@fairlead/engine'
import { openPlainFile, statPlainFile } from './open-plain-file.ts'

export interface LogLine {
  /** `#`: warning, `*`: notice, `-` and `.`: less. Null: another line (usage text, the loader). */
  readonly level: string | null
  readonly text: string
}

/** "12:M 21 Nov 2026 03:51:02.123 # Failed listening" → level "#", text "Failed listening". */
export function readLogLine(line: string): LogLine {
  const match = /^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$/.exec(line.trim())
  if (!match) return { level: null, text: line.trim() }
  const [, level = '', text = ''] = match
  return { level, text: text.trim() }
}

/** Removes secrets. Call it before a text is truncated, because half a secret cannot be found. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}

/**
 * Reads the log from byte `from`, at most its last `maxBytes`, and its end; empty without a log. A log that
 * is shorter now was cut (bound-log.ts): all its content came after that byte, or shortly before.
 */
export async function readLog(
  path: string,
  from: number,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly end: number }> {
  // An unchanged log is not opened: an asynchronous call costs ten times as much as this one.
  if (statPlainFile(path)?.size === from) return { bytes: Buffer.alloc(0), end: from }
  try {
    await using file = await openPlainFile(path)
    const { size } = await file.stat()
    const start = Math.max(from > size ? 0 : from, size - maxBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    return { bytes: buffer.subarray(0, bytesRead), end: start + bytesRead }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return { bytes: Buffer.alloc(0), end: from }
    throw cause
  }
}
