import { setTimeout as delay } from 'node:timers/promises'
import { doAlone, errorReply } from './alone.ts'
import { flushLegs, legTo, mention, pass } from './legs.ts'
import { advance, forget } from './order-replies.ts'
import type { Diverted, Leg, Owed, Router } from './router.ts'

/** How often a command is asked anew before its client is told what is wrong. */
const MOST_ATTEMPTS = 20
/** While the engines agree on who holds a slot. */
const WAIT_MS = 50

/**
 * Asks what engines have refused because of slots where they sent it; they have certainly not carried it out. Called when
 * no engine owes a reply, so that the order of commands stays what it was.
 */
export function followRedirects(router: Router): void {
  const all = router.diverted.splice(0)
  doAlone(router, false, async () => {
    if (all.some(({ text }) => !/^-?(MOVED|ASK) /.test(text))) await delay(WAIT_MS)
    for (const each of all) {
      const leg = await findLeg(router, each)
      if (router.closed) return null
      if (leg === null) refuse(router, each)
      else askAgain(leg, each)
    }
    flushLegs(router)
    return null
  })
}

/** Null: it cannot be asked again. */
async function findLeg(router: Router, { owed, leg, text }: Diverted): Promise<Leg | null> {
  owed.attempts += 1
  const { shards } = router
  const [, kind, slotText, host, port] = /^-?(MOVED|ASK) (\d+) (.*):(\d+)/.exec(text) ?? []
  if (kind === undefined)
    return isAskable(owed) ? legTo(router, owed.slot < 0 ? leg.group : (shards.slots[owed.slot] ?? 0)) : null
  const slot = Number(slotText)
  // Without a host it is the one that was asked.
  const upstream = shards.upstreams[leg.group]
  const owner = {
    host: host === '' || host === undefined ? (upstream?.address.host ?? '') : host,
    port: Number(port),
  }
  if (kind === 'ASK') {
    const group = shards.upstreams.findIndex(({ address }) => isSame(address, owner))
    return group < 0 || !isAskable(owed) ? null : legTo(router, group)
  }
  try {
    await shards.learn(slot, owner)
  } catch {
    // It cannot be reached, or not yet: asking again shows which.
    await delay(WAIT_MS)
  }
  return isAskable(owed) ? legTo(router, shards.slots[slot] ?? 0) : null
}

function isAskable({ request, attempts }: Owed): boolean {
  return request !== null && attempts <= MOST_ATTEMPTS
}

export function isSame(
  a: { readonly host: string; readonly port: number },
  b: { readonly host: string; readonly port: number },
): boolean {
  return a.host === b.host && a.port === b.port
}

function askAgain(leg: Leg, { owed, text }: Diverted): void {
  if (owed.request === null) return
  if (/^-?ASK /.test(text)) mention(leg, ['ASKING'])
  leg.owed.push(owed)
  pass(leg, owed.request)
}

/** The client knows nothing of clusters: to it, where a slot has gone means that it should try again. */
function refuse(router: Router, { owed, text }: Diverted): void {
  const error = /^-?(MOVED|ASK) /.test(text)
    ? 'TRYAGAIN The slot of this key has just moved'
    : text.replace(/^-/, '')
  owed.parts = [errorReply(error)]
  owed.done = true
  forget(router, owed)
  advance(router)
}
