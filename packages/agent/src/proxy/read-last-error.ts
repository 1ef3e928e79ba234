import { readLog } from '../process/engine-log.ts'

/** Only so much of the end of the log is read. */
const LAST_WORDS_BYTES = 64 * 1024

/** What a process of Node threw, or why Node ended it, from its log behind byte `from`: there, this line is among those of a stack trace. Empty where there is none. */
export async function readLastError(path: string, from: number): Promise<string> {
  const { bytes } = await readLog(path, from, LAST_WORDS_BYTES)
  const lines = bytes.toString('utf8').split('\n')
  return lines.findLast((line) => /^(\w*Error\b|FATAL ERROR).*: /.test(line))?.slice(0, 400) ?? ''
}
