import { RESTS, type ReplyScanner, type RequestScanner, scanReply, scanRequest } from '@fairlead/engine'
import { isTurnOver } from './turns.ts'

/**
 * A scanner rests after so many words or values, so that the clock is read in the middle of a long message, too: they take a quarter of a millisecond
 * if all are kept.
 */
const MOST_LOOKS = 512

/** The end of the request that begins at `at`, or goes on there; -1 if it has not come; RESTS if the turn is over before its end is found, at `restsAt`. */
export function findEndOfRequest(scanner: RequestScanner, chunk: Buffer, at: number): number {
  scanner.mostLooks = MOST_LOOKS
  for (let from = at; ; from = scanner.restsAt) {
    const end = scanRequest(scanner, chunk, from)
    if (end !== RESTS) return end
    scanner.looks = 0
    if (isTurnOver()) return RESTS
  }
}

/** The same for a reply. */
export function findEndOfReply(scanner: ReplyScanner, chunk: Buffer, at: number): number {
  scanner.mostLooks = MOST_LOOKS
  for (let from = at; ; from = scanner.restsAt) {
    const end = scanReply(scanner, chunk, from)
    if (end !== RESTS) return end
    scanner.looks = 0
    if (isTurnOver()) return RESTS
  }
}
