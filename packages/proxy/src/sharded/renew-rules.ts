import { isTurnOver } from '../forwarding/turns.ts'
import { askOwn, backendFor, DEFAULT_GROUP, nextTurn } from './backends.ts'
import { readCommandRules } from './command-rules.ts'
import { doExclusively } from './exclusive.ts'
import type { Router } from './router.ts'
import type { Routed } from './send-request.ts'

/** Asks an engine for its commands. Before that, and without the right, a standard table is used. */
export function renewRules(router: Router): Routed {
  if (router.pending.size > 0) return 'wait'
  const { shards } = router
  shards.areRulesOld = false
  doExclusively(router, false, async () => {
    try {
      const answer = await askOwn(backendFor(router, DEFAULT_GROUP), ['COMMAND'])
      shards.rules = await readCommandRules(answer, async () => {
        if (isTurnOver()) await nextTurn(router)
      })
    } catch {
      // The client has no right to ask (yet): it may sign in later, or another client may have the right.
      shards.areRulesOld = true
      router.session.triedRules = true
    }
    return null
  })
  return 'wait'
}
