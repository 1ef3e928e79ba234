import { readLog } from '../process/engine-log.ts'

/** Only this much of the end of the log is read. */
const LAST_WORDS_BYTES = 64 * 1024

/** Returns a Node process's error, or why Node ended it, from its log after byte `from`; empty if none. */
export async function readLastError(path: string, from: number): Promise<string> {
  const { bytes } = await readLog(path, from, LAST_WORDS_BYTES)
  const lines = bytes.toString('utf8').split('\n')
  return lines.findLast((line) => /^(\w*Error\b|FATAL ERROR).*: /.test(line))?.slice(0, 400) ?? ''
}
