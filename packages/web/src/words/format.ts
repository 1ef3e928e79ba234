const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Formats bytes: "97 MiB". */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1)
  const amount = count / 1024 ** power
  return `${amount >= 100 || power === 0 ? Math.round(amount) : trim(amount)} ${units[power]}`
}

/** Formats measured milliseconds: "2.85 ms", "5.00 ms", with as many digits as others of the column. */
export function milliseconds(ms: number): string {
  return `${ms.toFixed(digitsOf(ms))} ms`
}

/** Formats predicted or whole milliseconds: "5 ms". */
export function aboutMilliseconds(ms: number): string {
  return `${Number(ms.toFixed(digitsOf(ms)))} ms`
}

function digitsOf(ms: number): number {
  if (ms >= 100) return 0
  return ms >= 10 ? 1 : 2
}

/** Formats a duration: "14 min", "2.3 s". */
export function duration(ms: number): string {
  const seconds = Math.max(ms, 0) / 1_000
  if (seconds < 1) return `${Math.round(ms)} ms`
  if (seconds < 10) return `${trim(seconds)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  if (seconds < 86_400) return `${trim(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

/** Formats a remaining time: "14:32", or "6 d" if it is long. */
export function countdown(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0)
  if (seconds >= 86_400) return duration(ms)
  const two = (part: number) => String(part).padStart(2, '0')
  const hours = Math.floor(seconds / 3_600)
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return hours > 0 ? `${hours}:${rest}` : rest
}

/** Formats a past time: "3 min ago", or "now". */
export function ago(since: string | number, now: number): string {
  const ms = now - (typeof since === 'number' ? since : Date.parse(since))
  return ms < 2_000 ? 'now' : `${elapsed(ms)} ago`
}

/** Formats a growing duration, in whole seconds at least. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(Math.max(ms, 0) / 1_000)
  return seconds < 10 ? `${seconds} s` : duration(seconds * 1_000)
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** Formats a number: "281,602". */
export function count(value: number): string {
  return whole.format(value)
}

/** Formats a rate or number for a narrow cell: "20.1 k". */
export function short(value: number): string {
  if (value < 1_000) return value < 10 ? String(trim(value)) : whole.format(value)
  return value < 1_000_000 ? `${trim(value / 1_000)} k` : `${trim(value / 1_000_000)} M`
}

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** The reader's local time, with the day if it is another one: "07:39:14", "3 Nov 07:39:14". */
export function clockTime(iso: string, now: number): string {
  const at = new Date(iso)
  const isToday = at.toDateString() === new Date(now).toDateString()
  return isToday ? time.format(at) : `${day.format(at)} ${time.format(at)}`
}

/** The short name of a zone at a moment: "CET", "CEST" or "UTC". Default: the reader's zone. */
export function zoneAt(ms: number, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' }).formatToParts(ms)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC'
}

/** A deadline in the reader's local time, with the zone: "07:39:14 CET". */
export function deadline(iso: string, now: number): string {
  return `${clockTime(iso, now)} ${zoneAt(Date.parse(iso))}`
}

const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** A full date, "3 Nov 2026, 07:39:14 CET". Returns an invalid date unchanged, so that the page survives. */
export function fullTime(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  return `${date.format(at)}, ${time.format(at)} ${zoneAt(at.getTime())}`
}

/** The time zone of the page: "Europe/Berlin (CET)". */
export function sayZone(
  now: number,
  timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone,
): string {
  const short = zoneAt(now, timeZone)
  return short === timeZone ? short : `${timeZone} (${short})`
}

/** "1 group", "2 groups". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`
}

function trim(value: number): number {
  return Number(value.toFixed(1))
}
