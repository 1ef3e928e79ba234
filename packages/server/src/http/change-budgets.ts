import { Refusal } from '@fairlead/api'
import { type Caller, isAdmin } from '../core/identity/access.ts'

/** How many requests of one user may change something: at once, and per second. */
const AT_ONCE = 600
const EACH_SECOND = 2
/** The one that asked longest ago goes first. */
const MOST_USERS = 10_000

/**
 * Throws Refusal too_many_requests where a user changes things faster than a disk and a log may fill. Admins are not limited: they
 * can do as they like anyway.
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
