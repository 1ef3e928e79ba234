import { readFileSync } from 'node:fs'
import type { ThreadUse } from './watch-loop.ts'

/** The kernel counts in hundredths of a second, on every machine. */
const TICK_MS = 10

/** Of a thread of this process, by /proc (state is field 3, processor time 14 and 15). Null when it is gone. */
export function readThreadUse(thread: number): ThreadUse | null {
  let text: string
  try {
    text = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  } catch {
    return null
  }
  // Its name may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS }
}
