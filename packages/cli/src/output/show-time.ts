import type { Terminal } from './terminal.ts'

const DAY_MS = 86_400_000

/** A time (Unix milliseconds) as people read it: of this day "20:14:05", else with the date. Off a terminal it is RFC 3339, UTC. */
export function showTime(ms: number, { outIsTerminal }: Pick<Terminal, 'outIsTerminal'>): string {
  const time = new Date(ms)
  if (!outIsTerminal) return time.toISOString()
  const two = (n: number) => String(n).padStart(2, '0')
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')
  const isNear = Math.abs(Date.now() - ms) < DAY_MS / 2
  return isNear ? clock : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`
}
