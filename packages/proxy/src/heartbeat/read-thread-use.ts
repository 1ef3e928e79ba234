import { readFileSync } from 'node:fs'
import type { ThreadUse } from './watch-loop.ts'

/** The kernel counts in hundredths of a second, on every machine. */
const TICK_MS = 10

/** Reads state and CPU time of a thread of this process from /proc (fields 3, 14, 15). Null if it ended. */
export function readThreadUse(thread: number): ThreadUse | null {
  let text: string
  try {
    text = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  } catch {
    return null
  }
  // A thread's name may contain any character, so the text is read from the last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS }
}
