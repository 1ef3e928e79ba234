import { createReplyScanner, isBetweenReplies, type ReplyScanner, scanReply } from '@fairlead/engine'
import { markReply } from './scan-cursors.ts'

/** The reply to an EXEC, some parts of which are replies to scans: their cursors are replaced while the reply passes, and nothing else is kept. */
export interface ExecMarking {
  /** The indexes of those parts, ascending; and how many of them have passed. */
  readonly scans: readonly number[]
  marked: number
  readonly generation: number
  /** What is being read: the head of the reply, its parts, or the rest that stays unchanged. */
  reading: 'type' | 'head' | 'parts' | 'rest'
  readonly scanner: ReplyScanner
  /** The index of the part that is read. */
  part: number
  /** The bytes of a reply to a scan until its cursor is complete; null: none are kept back. */
  beginning: Buffer | null
}

/** For the reply to an EXEC; `scans` are the places, from 0, at which cursors stand in it. */
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

/** Takes the next bytes of the reply, in any pieces. Answers the bytes for the client. */
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

/** After the head of the list. A reply that is no list (an error, nil) has no parts. */
function beginOfParts(marking: ExecMarking, bytes: Buffer): number {
  if (marking.reading === 'type') marking.reading = bytes[0] === ARRAY_SIGN ? 'head' : 'rest'
  if (marking.reading !== 'head') return 0
  const end = bytes.indexOf('\n')
  if (end >= 0) marking.reading = 'parts'
  return end + 1
}

const nothing = Buffer.alloc(0)
const ARRAY_SIGN = 0x2a
