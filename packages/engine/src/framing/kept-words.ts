import { takeGathered } from './gathered-bytes.ts'
import { BODY, type RequestScanner } from './request-scanner.ts'

/**
 * Limit of kept words of a message, however short: each is an object, and all are examined when the message
 * is complete. Outside of transactions, this many take KEPT_BYTES.
 */
const MOST_WORDS = 16_384

/** True if the current word is needed, and there is space for it. */
export function isKept(scanner: RequestScanner): boolean {
  if (scanner.drops || !isWanted(scanner)) return false
  if (scanner.words.length < MOST_WORDS && scanner.keptBytes <= scanner.keepsMost) return true
  scanner.cutShort = true
  return false
}

function isWanted({ keepAll, index, command }: RequestScanner): boolean {
  return keepAll || (index > 0 && command !== undefined && index <= command.keeps)
}

/** Keeps a word of the current message, if there is space for it. */
export function keep(scanner: RequestScanner, word: Buffer): void {
  // An argument's object counts, too: a million empty ones use memory.
  scanner.keptBytes += word.length + WORD_COSTS
  if (scanner.keptBytes > scanner.keepsMost) scanner.cutShort = true
  else scanner.words.push(word)
}

/** Bytes that a kept word takes in addition to its own. */
export const WORD_COSTS = 64

/** Drops the kept words of the current message, and keeps no more of them. */
export function stopKeeping(scanner: RequestScanner): void {
  scanner.drops = true
  scanner.cutShort = true
  scanner.words = []
  scanner.keptBytes = 0
  if (scanner.phase === BODY) takeGathered(scanner.part)
}
