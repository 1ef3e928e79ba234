import type { Terminal } from './terminal.ts'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Formats bytes: "97 MiB", "21.3 GiB". */
export function showBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const value = bytes / 1024 ** power
  return `${value >= 100 || power === 0 ? Math.round(value) : Number(value.toFixed(1))} ${units[power]}`
}

/** Formats milliseconds: "2.85 ms", "12 s". */
export function showMs(ms: number): string {
  if (ms >= 10_000) return showSeconds(ms / 1_000)
  return `${ms >= 100 ? Math.round(ms) : Number(ms.toFixed(2))} ms`
}

/** Formats seconds: "40 s", "15 min", "2 h 5 min", "6 d". */
export function showSeconds(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 120) return `${whole} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.round(hours / 24)} d`
}

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

/** "1 key", "2 keys". */
export function counted(n: number, what: string, plural = `${what}s`): string {
  return `${n} ${n === 1 ? what : plural}`
}
