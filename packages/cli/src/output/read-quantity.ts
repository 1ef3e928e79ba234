import { readFileSync } from 'node:fs'
import { CommandFault } from './command-fault.ts'

const seconds = { ms: 0.001, s: 1, m: 60, min: 60, h: 3_600, d: 86_400 } as const
const bytes = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
} as const

/** "15m", "8h", "500ms" in seconds; a bare number is seconds. Throws CommandFault with the option's name. */
export function readSeconds(option: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? []
  const factor = unit === '' ? 1 : seconds[unit.toLowerCase() as keyof typeof seconds]
  if (number === '' || factor === undefined)
    throw new CommandFault('usage', `${option}: ${text} is no time; write it like 30s, 15m or 8h`)
  return Number(number) * factor
}

/** Longer timers overflow in Node, and fire immediately. */
const LONGEST_WAIT_SECONDS = 24 * 86_400

/** The same for a wait of this process: at most 24 days. */
export function readWait(option: string, text: string): number {
  const read = readSeconds(option, text)
  if (read <= LONGEST_WAIT_SECONDS) return read
  throw new CommandFault('usage', `${option}: ${text} is too long; at most 24d`)
}

/** "1GiB", "500MB", "100000000" in bytes. Throws CommandFault with the option's name. */
export function readBytes(option: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? []
  const factor = bytes[unit.toLowerCase() as keyof typeof bytes]
  if (number === '' || factor === undefined)
    throw new CommandFault('usage', `${option}: ${text} is no size; write it like 1GiB or 500MB`)
  return Math.round(Number(number) * factor)
}

/** The text of a file. Throws CommandFault with the option's name. */
export function readText(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFault('usage', `${option}: ${why}; nothing was sent`)
  }
}

/** A whole number. Throws CommandFault with the option's name. */
export function readWhole(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CommandFault('usage', `${option}: ${text} is no whole number`)
  return Number(text)
}
