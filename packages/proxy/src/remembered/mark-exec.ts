import { createReplyScanner, isBetweenReplies, type ReplyScanner, scanReply } from '@fairlead/engine'
import { markReply } from './scan-cursors.ts'

/** A reply to an EXEC with scans: cursors are replaced while the reply passes; nothing else is kept. */
export interface ExecMarking {
  /** Indexes of those parts, ascending; and how many of them have passed. */
  readonly scans: readonly number[]
  marked: number
  readonly generation: number
  /** The part being read: head, elements, or the unchanged rest. */
  reading: 'type' | 'head' | 'parts' | 'rest'
  readonly scanner: ReplyScanner
  /** Index of the element being read. */
  part: number
  /** Bytes of a reply to a scan until its cursor is complete; null if none are kept back. */
  beginning: Buffer | null
}

/** Creates a marking. `scans`: indexes of the elements with cursors, from 0. */
export function createExecMarking(scans: readonly number[], generation: number): ExecMarking {
  return {
    scans,
    marked: 0,
    generation,
    reading: 'type',
    scanner: createReplyScanner(),
    part: 0,
    beginning: null,
  }
}

/** Takes the next bytes of the reply, in any pieces. Returns bytes for the client. */
export function markNext(marking: ExecMarking, bytes: Buffer): readonly Buffer[] {
  const begin = beginOfParts(marking, bytes)
  if (marking.reading !== 'parts') return [bytes]
  const { scans, scanner, generation } = marking
  const told: Buffer[] = []
  let from = 0
  for (let at = begin; at < bytes.length && marking.marked < scans.length; ) {
    const isScan = scans[marking.marked] === marking.part
    if (isScan && isBetweenReplies(scanner)) {
      told.push(bytes.subarray(from, at))
      from = at
      marking.beginning = nothing
    }
    const end = scanReply(scanner, bytes, at)
    const to = end < 0 ? bytes.length : end
    if (marking.beginning !== null) {
      const all = Buffer.concat([marking.beginning, bytes.subarray(from, to)])
      const marked = markReply(all, end >= 0, generation)
      if (marked !== null) told.push(marked)
      marking.beginning = marked === null ? all : null
      from = to
    }
    if (end >= 0) {
      marking.part += 1
      if (isScan) marking.marked += 1
    }
    at = to
  }
  if (marking.marked === scans.length) marking.reading = 'rest'
  return [...told, bytes.subarray(from)]
}

/** Returns the position after the array's head. A reply that is no array (an error, nil) has no elements. */
function beginOfParts(marking: ExecMarking, bytes: Buffer): number {
  if (marking.reading === 'type') marking.reading = bytes[0] === ARRAY_SIGN ? 'head' : 'rest'
  if (marking.reading !== 'head') return 0
  const end = bytes.indexOf('\n')
  if (end >= 0) marking.reading = 'parts'
  return end + 1
}

const nothing = Buffer.alloc(0)
const ARRAY_SIGN = 0x2a
