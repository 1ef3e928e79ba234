import { encodeCommand } from '@fairlead/engine'
import type { Command } from './command.ts'

/**
 * Cursors of SCAN, HSCAN, SSCAN and ZSCAN are valid at one engine process only: each hashes with its own
 * seed. So a client gets the engine's cursor times 65,536, plus the engine's number, the generation. A cursor
 * of another generation is sent as 0: the scan restarts, elements may be returned twice, none is missed.
 * Otherwise a scan continued at another process ends after 75 % of the elements (measured on every build).
 */

/** Index of the cursor among the arguments. */
const places: Readonly<Record<string, number>> = { SCAN: 0, HSCAN: 1, SSCAN: 1, ZSCAN: 1 }
/** Commands that return cursors. */
export const scanNames: readonly string[] = Object.keys(places)

/** Generations are below this number. */
export const GENERATIONS = 65_536
const BITS = 16n
const MASK = BigInt(GENERATIONS - 1)

/** True if the reply to this command holds a cursor. */
export function isScan({ name }: { readonly name: string }): boolean {
  return places[name] !== undefined
}

/** Encodes a scan with the cursor of its engine, of this `generation`. */
export function encodeScan(command: Command, generation: number): Buffer {
  // Longer than the proxy keeps, so it cannot be sent completely: without arguments the engine refuses it.
  if (command.cutShort) return encodeCommand([command.name])
  return encodeCommand([command.name, ...argsForEngine(command, generation)])
}

/** Returns a scan's arguments with the engine's cursor; those of other commands unchanged. */
export function argsForEngine({ name, args }: Command, generation: number): readonly Buffer[] {
  const place = places[name]
  const cursor = place === undefined ? undefined : args[place]
  if (place === undefined || cursor === undefined) return args
  return args.with(place, cursorForEngine(cursor, generation))
}

function cursorForEngine(cursor: Buffer, generation: number): Buffer {
  const text = cursor.toString('latin1')
  // The engine itself refuses a text that is no cursor.
  if (text === '0' || !/^\d{1,24}$/.test(text)) return cursor
  const value = BigInt(text)
  return (value & MASK) === BigInt(generation) ? Buffer.from(String(value >> BITS)) : zero
}

const zero = Buffer.from('0')

function cursorForClient(text: string, generation: number): string {
  return text === '0' ? text : String((BigInt(text) << BITS) | BigInt(generation))
}

/** Longest head of a reply to a scan, before its elements. */
const LONGEST_HEAD_BYTES = 64
const head = /^\*2\r\n\$\d+\r\n(\d+)\r\n/

/**
 * Returns the beginning of a reply to a scan with the client's cursor; null if more bytes are needed. Other
 * replies (an error, QUEUED) are unchanged.
 */
export function markReply(bytes: Buffer, isWhole: boolean, generation: number): Buffer | null {
  const [all = '', cursor] = head.exec(bytes.toString('latin1', 0, LONGEST_HEAD_BYTES)) ?? []
  if (cursor !== undefined) return Buffer.concat([headOf(cursor, generation), bytes.subarray(all.length)])
  return isWhole || bytes[0] !== ARRAY_SIGN || bytes.length >= LONGEST_HEAD_BYTES ? bytes : null
}

const ARRAY_SIGN = 0x2a

function headOf(cursor: string, generation: number): Buffer {
  const text = cursorForClient(cursor, generation)
  return Buffer.from(`*2\r\n$${text.length}\r\n${text}\r\n`)
}
