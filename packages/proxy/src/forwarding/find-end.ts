import { RESTS, type ReplyScanner, type RequestScanner, scanReply, scanRequest } from '@fairlead/engine'
import { isTurnOver } from './turns.ts'

/** Words or values after which a scanner lets the clock be read: 0.25 ms if all are kept. */
const MOST_LOOKS = 512

/** Returns the end of the request at `at`; -1 if incomplete; RESTS if the turn ends first (at `restsAt`). */
export function findEndOfRequest(scanner: RequestScanner, chunk: Buffer, at: number): number {
  scanner.mostLooks = MOST_LOOKS
  for (let from = at; ; from = scanner.restsAt) {
    const end = scanRequest(scanner, chunk, from)
    if (end !== RESTS) return end
    scanner.looks = 0
    if (isTurnOver()) return RESTS
  }
}

/** Like findEndOfRequest, for a reply. */
export function findEndOfReply(scanner: ReplyScanner, chunk: Buffer, at: number): number {
  scanner.mostLooks = MOST_LOOKS
  for (let from = at; ; from = scanner.restsAt) {
    const end = scanReply(scanner, chunk, from)
    if (end !== RESTS) return end
    scanner.looks = 0
    if (isTurnOver()) return RESTS
  }
}
