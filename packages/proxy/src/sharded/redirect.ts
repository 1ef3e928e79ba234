import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '@fairlead/api/of-proxies'
import { addressText } from '../listen/address-text.ts'
import { backendFor, flushBackends, mention, pass } from './backends.ts'
import { doExclusively, errorReply } from './exclusive.ts'
import { forgetRequest } from './kept-requests.ts'
import { advance } from './order-replies.ts'
import type { Backend, Diverted, PendingReply, Router, Shards } from './router.ts'

/** Number of attempts before the client gets the error. */
const MOST_ATTEMPTS = 20
/** Pause before a retry, so that the engines agree on the owner of a slot. */
const WAIT_MS = 50

/**
 * Examines redirected requests and sends them to the right engine. Called without pending replies, so that
 * the order of commands is kept. `lookout` finds the slot; a command whose error may come from a script is
 * never sent again.
 */
export function followRedirects(router: Router): void {
  const all = router.diverted.splice(0)
  doExclusively(router, false, async () => {
    if (all.some(({ redirect }) => redirect.kind === 'wait')) await delay(WAIT_MS)
    for (const each of all) {
      const next = each.pendingReply.isEngines ? await findBackend(router, each) : await judge(router, each)
      if (router.closed) return null
      if ('reply' in next) answerDiverted(router, each, next.reply)
      else askAgain(next, each.pendingReply)
    }
    flushBackends(router)
    return null
  })
}

/** Decision about a request: its backend (with ASKING during a migration), or the error for its client. */
type Next = { readonly backend: Backend; readonly isAsking: boolean } | { readonly reply: Buffer }

/** Replaces a redirect for a client without cluster support, which should retry. */
const tryAgain = errorReply('TRYAGAIN The slot of this key has just moved')

/** Handles an error of the engine itself: the command was certainly not executed. */
async function findBackend(router: Router, diverted: Diverted): Promise<Next> {
  const { pendingReply, backend, redirect, reply } = diverted
  const { shards } = router
  pendingReply.attempts += 1
  if (redirect.kind === 'wait') {
    if (!isAskable(pendingReply)) return { reply }
    return there(
      backendFor(router, pendingReply.slot < 0 ? backend.group : (shards.slots[pendingReply.slot] ?? 0)),
    )
  }
  const { slot } = redirect
  // A client has caused the slot to be followed already, or the key's position was assumed wrongly.
  const holder = holderOf(shards, slot)
  const isElsewhere = addressText(holder) !== diverted.shard
  if (!isElsewhere && slot !== pendingReply.slot) {
    shards.doubts.note(`${diverted.shard} has redirected a slot that was not asked for`)
    return { reply: tryAgain }
  }
  const found = isElsewhere ? null : await shards.lookout.find(slot, holder)
  if (found?.kind === 'held') {
    shards.doubts.note(`${diverted.shard} holds slot ${slot}, although an error named another holder`)
    return { reply: tryAgain }
  }
  if (!isAskable(pendingReply)) {
    if (found !== null && 'why' in found) shards.doubts.note(found.why)
    return { reply: tryAgain }
  }
  if (found?.kind === 'leaving') return { backend: backendFor(router, found.group), isAsking: true }
  // The slot may not have moved yet: another try shows it.
  if (found?.kind === 'elsewhere' || found?.kind === 'unknown') await delay(WAIT_MS)
  return there(backendFor(router, shards.slots[slot] ?? 0))
}

/**
 * Handles an error that may come from a script, or a command that cannot be sent alone: the client should
 * retry only if the error is true.
 */
async function judge(router: Router, diverted: Diverted): Promise<Next> {
  const { shards } = router
  const { redirect, shard, reply } = diverted
  const holder = holderOf(shards, redirect.slot)
  if (addressText(holder) !== shard) return { reply: tryAgain }
  const { kind } = await shards.lookout.find(redirect.slot, holder)
  if (kind !== 'held' && kind !== 'unknown') return { reply: tryAgain }
  shards.doubts.note(`a script or a transaction at ${shard} said that slot ${redirect.slot} is elsewhere`)
  return { reply }
}

/** Returns the address of the group with the slot. */
function holderOf({ upstreams, slots }: Shards, slot: number): Address {
  const upstream = upstreams[slots[slot] ?? -1]
  if (upstream === undefined) throw new Error(`no group has the slot ${slot}`)
  return upstream.address
}

function there(backend: Backend): Next {
  return { backend, isAsking: false }
}

function isAskable({ request, attempts }: PendingReply): boolean {
  return request !== null && attempts <= MOST_ATTEMPTS
}

function askAgain(
  { backend, isAsking }: { readonly backend: Backend; readonly isAsking: boolean },
  pendingReply: PendingReply,
): void {
  if (pendingReply.request === null) return
  if (isAsking) mention(backend, ['ASKING'])
  backend.pending.push(pendingReply)
  pass(backend, pendingReply.request)
}

function answerDiverted(router: Router, { pendingReply, backend }: Diverted, reply: Buffer): void {
  const { tape } = backend.connection.owner
  tape.replies += 1
  tape.errors += 1
  tape.note(performance.now())
  pendingReply.parts = pendingReply.silent ? [] : [reply]
  pendingReply.done = true
  forgetRequest(router, pendingReply)
  advance(router)
}
