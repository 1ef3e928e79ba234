import { encodeCommand } from '@fairlead/engine'
import type { Command } from './command.ts'

/**
 * Cursors of SCAN, HSCAN, SSCAN and ZSCAN mean something to one engine process only: each hashes with a seed
 * of its own. So a client is given the engine's cursor times 65,536, plus a number for that engine, the
 * generation. A cursor of another generation is sent as 0: the scan begins again, elements may be returned
 * twice, none is missed. Without that, a scan that continues at another process ends after 75 % of the
 * elements (measured on every build).
 */

/** The place of the cursor among the arguments. */
const places: Readonly<Record<string, number>> = { SCAN: 0, HSCAN: 1, SSCAN: 1, ZSCAN: 1 }
/** The commands that give cursors. */
export const scanNames: readonly string[] = Object.keys(places)

/** Generations are numbers below this. */
export const GENERATIONS = 65_536
const BITS = 16n
const MASK = BigInt(GENERATIONS - 1)

/** Whether the reply to this command holds a cursor. */
export function isScan({ name }: { readonly name: string }): boolean {
  return places[name] !== undefined
}

/** A scan with the cursor that its engine, of this `generation`, understands. */
export function encodeScan(command: Command, generation: number): Buffer {
  // It is longer than the proxy keeps, and cannot be sent completely: without arguments the engine refuses it.
  if (command.cutShort) return encodeCommand([command.name])
  return encodeCommand([command.name, ...argsForEngine(command, generation)])
}

/** The arguments of a scan with the engine's own cursor; those of any other command as they are. */
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

/** The most bytes of a reply to a scan before its elements begin. */
const LONGEST_HEAD_BYTES = 64
const head = /^\*2\r\n\$\d+\r\n(\d+)\r\n/

/**
 * The beginning of a reply to a scan, as its client gets it. Null: more bytes are needed. Any other
 * reply (an error, QUEUED) is unchanged.
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
