import { createHash } from 'node:crypto'

/**
 * The digest that marks users of an engine as Fairlead's making: they follow the record, and are removed with
 * it. No password has this digest.
 */
export const MADE_BY_FAIRLEAD = '0'.repeat(64)

/** Returns a short text that is equal for equal users, and says nothing about their passwords. */
export function usersMark(users: unknown): string {
  return createHash('sha256').update(JSON.stringify(users)).digest('base64url').slice(0, 22)
}
