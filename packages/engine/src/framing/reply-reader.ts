import { createGatheredBytes, gather, takeGathered } from './gathered-bytes.ts'
import { parseOnce } from './parse-once.ts'
import { DEEPEST, MOST_VALUES, type PlainReply } from './parse-plain-reply.ts'
import { LF } from './reply-bytes.ts'
import { createReplyScanner, LINE } from './reply-scanner.ts'
import { scanReply } from './scan-replies.ts'

/**
 * What Fairlead asks for is far smaller: COMMAND has a hundred kilobytes, ACL LIST of a thousand users with rules of their own
 * some five million bytes. This also bounds the memory that one engine can take by its answers.
 */
const MOST_BYTES = 16 * 1024 * 1024
/** A number, OK, an error: long values never come in a line. */
const LONGEST_LINE = 64 * 1024

export interface ReplyReader {
  /**
   * Gives the replies that end in `chunk` to `take`, in their order, each read by `parse` from its bytes. Throws what these throw, and when a reply cannot be
   * understood or exceeds a limit. Not to be called after that.
   */
  read(chunk: Buffer, take: (reply: PlainReply) => void, parse?: (bytes: Buffer) => PlainReply): void
}

/** How much one reply may have. */
export interface ReplyLimits {
  readonly bytes: number
  /** Those inside of others count, too. */
  readonly values: number
}

const usual: ReplyLimits = { bytes: MOST_BYTES, values: MOST_VALUES }

/** Reads the replies of one connection in bytes that are cut anywhere. Of the one that has begun it keeps 16 MB at most, unless `limits` says otherwise. */
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
    // A reply that announces more is not waited for.
    if (begun.length + part.length > limits.bytes || scanner.bytesLeft > limits.bytes)
      throw new Error(`a reply is longer than ${limits.bytes} bytes`)
    if (scanner.outer.length > DEEPEST) throw new Error(`a reply is nested more than ${DEEPEST} deep`)
    // Lists of one in lists of one are announced nowhere: 16 MB of them cost a third of a second.
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
