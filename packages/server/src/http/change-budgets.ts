import { Refusal } from '@fairlead/api'
import { type Caller, isAdmin } from '../core/identity/access.ts'

/** Changing requests per user: burst, and per second. */
const AT_ONCE = 600
const EACH_SECOND = 2
/** The user with the oldest request is removed first. */
const MOST_USERS = 10_000

/**
 * Throws Refusal too_many_requests for changes faster than disk and log can bear. Admins are exempt: they
 * have full power.
 */
export function createChangeBudgets(nowMs: () => number = () => performance.now()): (caller: Caller) => void {
  const used = new Map<number, { readonly level: number; readonly atMs: number }>()
  return ({ user }) => {
    if (isAdmin(user)) return
    const { level, atMs } = used.get(user.uid) ?? { level: 0, atMs: nowMs() }
    const now = nowMs()
    const left = Math.max(0, level - ((now - atMs) / 1000) * EACH_SECOND)
    if (left >= AT_ONCE) {
      throw new Refusal('too_many_requests', `${user.name} changes too much at once; try again later`)
    }
    used.delete(user.uid)
    const [oldest] = used.keys()
    if (oldest !== undefined && used.size >= MOST_USERS) used.delete(oldest)
    used.set(user.uid, { level: left + 1, atMs: now })
  }
}
