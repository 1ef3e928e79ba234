import type { Terminal } from './terminal.ts'

const DAY_MS = 86_400_000

/** Formats Unix milliseconds: "20:14:05" for a near time, else with the date; RFC 3339 without a terminal. */
export function showTime(ms: number, { outIsTerminal }: Pick<Terminal, 'outIsTerminal'>): string {
  const time = new Date(ms)
  if (!outIsTerminal) return time.toISOString()
  const two = (n: number) => String(n).padStart(2, '0')
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')
  const isNear = Math.abs(Date.now() - ms) < DAY_MS / 2
  return isNear ? clock : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`
}
