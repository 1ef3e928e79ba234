import { createGatheredBytes, gather, takeGathered } from './gathered-bytes.ts'
import { parseOnce } from './parse-once.ts'
import { DEEPEST, MOST_VALUES, type PlainReply } from './parse-plain-reply.ts'
import { LF } from './reply-bytes.ts'
import { createReplyScanner, LINE } from './reply-scanner.ts'
import { scanReply } from './scan-replies.ts'

/**
 * Limit of one engine's replies in memory. Those to Fairlead are far smaller: COMMAND has 100 KB, ACL LIST of
 * a thousand users with separate rules about 5 MB.
 */
const MOST_BYTES = 16 * 1024 * 1024
/** Numbers, OK, errors: long values never come in a line. */
const LONGEST_LINE = 64 * 1024

export interface ReplyReader {
  /**
   * Passes the replies that end in `chunk` to `take`, in order, each parsed by `parse`. Throws their errors,
   * and on an invalid or too large reply; do not call it after that.
   */
  read(chunk: Buffer, take: (reply: PlainReply) => void, parse?: (bytes: Buffer) => PlainReply): void
}

/** Limits of one reply. */
export interface ReplyLimits {
  readonly bytes: number
  /** Nested ones count, too. */
  readonly values: number
}

const usual: ReplyLimits = { bytes: MOST_BYTES, values: MOST_VALUES }

/**
 * Reads the replies of one connection from bytes that are split anywhere. It keeps at most 16 MB of an
 * incomplete one, or `limits`.
 */
export function createReplyReader(limits: ReplyLimits = usual): ReplyReader {
  const scanner = createReplyScanner()
  const begun = createGatheredBytes()
  let lineBytes = 0
  const check = (part: Buffer) => {
    if (scanner.error !== undefined) throw new Error(scanner.error)
    const lastEnd = part.lastIndexOf(LF)
    lineBytes = lastEnd < 0 ? lineBytes + part.length : part.length - lastEnd
    if (scanner.phase === LINE && lineBytes > LONGEST_LINE)
      throw new Error(`a line is longer than ${LONGEST_LINE} bytes`)
    // A reply that announces more is not awaited.
    if (begun.length + part.length > limits.bytes || scanner.bytesLeft > limits.bytes)
      throw new Error(`a reply is longer than ${limits.bytes} bytes`)
    if (scanner.outer.length > DEEPEST) throw new Error(`a reply is nested more than ${DEEPEST} deep`)
    // Lists of one in lists of one announce no size: 16 MB of them cost a third of a second.
    if (scanner.left > limits.values || scanner.looks > limits.values)
      throw new Error(`a reply has more than ${limits.values} values`)
  }
  return {
    read(chunk, take, parse = parseOnce) {
      for (let from = 0; from < chunk.length; ) {
        const end = scanReply(scanner, chunk, from)
        const part = chunk.subarray(from, end < 0 ? chunk.length : end)
        check(part)
        if (end < 0 || begun.length > 0) gather(begun, part)
        if (end < 0) return
        scanner.looks = 0
        take(parse(begun.length > 0 ? takeGathered(begun) : part))
        from = end
      }
    },
  }
}
