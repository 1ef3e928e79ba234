import { takeGathered } from './gathered-bytes.ts'
import { BODY, type RequestScanner } from './request-scanner.ts'

/**
 * No more words are kept of a message, however short they are: each is an object, and all of them are looked at when the message is complete. Outside of
 * transactions so many take KEPT_BYTES.
 */
const MOST_WORDS = 16_384

/** The word that is read now is wanted later, and there is room for it. */
export function isKept(scanner: RequestScanner): boolean {
  if (scanner.drops || !isWanted(scanner)) return false
  if (scanner.words.length < MOST_WORDS && scanner.keptBytes <= scanner.keepsMost) return true
  scanner.cutShort = true
  return false
}

function isWanted({ keepAll, index, command }: RequestScanner): boolean {
  return keepAll || (index > 0 && command !== undefined && index <= command.keeps)
}

/** Keeps a word of the message that is being read, if there is room for it. */
export function keep(scanner: RequestScanner, word: Buffer): void {
  // An argument costs its object, too: a million empty ones use memory.
  scanner.keptBytes += word.length + WORD_COSTS
  if (scanner.keptBytes > scanner.keepsMost) scanner.cutShort = true
  else scanner.words.push(word)
}

/** What a kept word takes in addition to its bytes. */
export const WORD_COSTS = 64

/** Drops what is kept of the message that is being read, and keeps nothing more of it. */
export function stopKeeping(scanner: RequestScanner): void {
  scanner.drops = true
  scanner.cutShort = true
  scanner.words = []
  scanner.keptBytes = 0
  if (scanner.phase === BODY) takeGathered(scanner.part)
}
