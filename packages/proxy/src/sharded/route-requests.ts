import { gather, hashSlot, isBetweenRequests, RESTS, takeGathered } from '@fairlead/engine'
import { findEndOfRequest } from '../forwarding/find-end.ts'
import { COSTS_OF_A_LOOK, inTurn, isTurnOver, LINE_BYTES, NOTED_COSTS } from '../forwarding/turns.ts'
import { capitalsOf } from '../remembered/command.ts'
import { subscriptions } from '../remembered/commands.ts'
import { asArray } from './as-array.ts'
import { backendFor, backendOfSlot, flushBackends, LARGEST_FED_BYTES, pass } from './backends.ts'
import { endIfAnswered, endRouter } from './close-router.ts'
import { answer, crossSlot, doExclusively, errorReply, takeReplyOff } from './exclusive.ts'
import { hasStrayKey } from './has-stray-key.ts'
import { countPart } from './kept-parts.ts'
import { keyOf } from './key-of.ts'
import { flushOutgoing } from './outgoing.ts'
import { hasSignedIn, judgeSender } from './prove-login.ts'
import { readWords } from './read-words.ts'
import { followRedirects } from './redirect.ts'
import { renewRules } from './renew-rules.ts'
import { MOST_PENDING, type Router, steerRouter } from './router.ts'
import { type Request, type Routed, sendRequest } from './send-request.ts'
import { specialCommands, type Treatment } from './special-commands.ts'
import { bind, queueCommand } from './transaction.ts'

/** Only the beginning of a larger request waits for its backend; the rest follows on arrival. */
const LARGEST_KEPT_BACK_BYTES = 64 * 1024
/** A request without a known backend after this many bytes is refused. */
const LARGEST_HEAD_BYTES = 1024 * 1024
/** Bytes of a request that cost one: some requests are searched to their end. */
const LOOKED_AT_BYTES = 256
/** Takes bytes of the client: each request goes to the backend of its key. */
export function takeClientBytes(router: Router, chunk: Buffer): void {
  if (router.closed || router.lastError !== null) return
  if (router.input.stash.length > 0 || mustWait(router)) stash(router, chunk)
  else route(router, chunk)
}

function stash(router: Router, chunk: Buffer): void {
  router.input.stash.push(chunk)
  router.input.stashBytes += chunk.length
  steerRouter(router)
}

/** Stashes bytes that arrived outside of the endpoint's turn. */
export function setClientBytesAside(router: Router, chunk: Buffer): void {
  if (router.closed || router.lastError !== null) return
  letOthersGo(router)
  stash(router, chunk)
}

/** A partly sent request is completed in the client's turn. */
function mustWait({ gated, pending, input: { rest, yielded } }: Router): boolean {
  return yielded || ((gated || pending.size > MOST_PENDING) && rest === null)
}

/** Ends the client's turn: its next bytes wait for the next one. */
function letOthersGo(router: Router): void {
  if (router.input.yielded) return
  router.input.yielded = true
  steerRouter(router)
  inTurn(router.shards.allowance, 'takes requests again of', router.visitor.crumb, () => {
    router.input.yielded = false
    if (!router.closed && !router.busy) routeStash(router)
  })
}

function routeStash(router: Router): void {
  while (router.input.stash.length > 0 && !mustWait(router)) {
    // As one piece, because a client may have sent single bytes.
    const [first, ...others] = router.input.stash
    if (first === undefined) break
    const all = others.length === 0 ? first : Buffer.concat([first, ...others])
    const rest = all.subarray(LARGEST_FED_BYTES)
    router.input.stash = rest.length === 0 ? [] : [rest]
    router.input.stashBytes = rest.length
    route(router, all.subarray(0, LARGEST_FED_BYTES))
    if (router.input.stash.length > 0 && isTurnOver()) letOthersGo(router)
  }
  if (router.client.isPaused()) steerRouter(router)
  endIfAnswered(router)
}

/** Called when replies have arrived: bytes that waited for them continue. */
export function resume(router: Router): void {
  if (router.closed || router.busy) return
  if (router.diverted.length > 0) {
    if (router.backends.every((one) => one === undefined || one.pending.size === 0)) followRedirects(router)
    return
  }
  if (router.pending.size > 0) {
    routeStash(router)
    return
  }
  if (router.lastError !== null) {
    endRouter(router, router.lastError === '' ? undefined : router.lastError)
    return
  }
  router.gated = false
  if (isTimeToBegin(router)) beginLarge(router)
  routeStash(router)
}

function route(router: Router, chunk: Buffer): void {
  const {
    input: { requests },
  } = router
  let at = 0
  let done = 0
  while (at < chunk.length && !router.closed && router.lastError === null) {
    if (mustWait(router) && isBetweenRequests(requests)) {
      putBack(router, chunk.subarray(at))
      break
    }
    const end = findEndOfRequest(requests, chunk, at)
    if (end === RESTS) letOthersGo(router)
    if (requests.error !== undefined) {
      router.lastError = `ERR Protocol error: ${requests.error}`
      break
    }
    if (end < 0) {
      const to = end === RESTS ? requests.restsAt : chunk.length
      takePart(router, chunk.subarray(at, to))
      putBack(router, chunk.subarray(to))
      break
    }
    done += NOTED_COSTS + Math.floor((router.input.part.length + end - at) / LOOKED_AT_BYTES)
    // It is read again: encoded as an array, and parsed by its backend.
    if (requests.lineBytes > 0) done += Math.ceil((2 * requests.lineBytes) / LINE_BYTES)
    if (done > COSTS_OF_A_LOOK) {
      done = 0
      if (isTurnOver()) letOthersGo(router)
    }
    const waiting = takeEnd(router, chunk.subarray(at, end))
    at = end
    if (waiting !== null) {
      putBack(router, chunk.subarray(at))
      putBack(router, waiting)
      break
    }
  }
  flushBackends(router)
  flushOutgoing(router)
  if (router.lastError !== null) resume(router)
}

/** At the front, because bytes already there arrived later. */
function putBack(router: Router, bytes: Buffer): void {
  if (bytes.length === 0) return
  router.input.stash.unshift(bytes)
  router.input.stashBytes += bytes.length
  steerRouter(router)
}

/** Takes the end of a request, or all of it. Returns the request if it has to wait. */
function takeEnd(router: Router, piece: Buffer): Buffer | null {
  const {
    input: { rest, part, requests },
  } = router
  if (rest !== null) {
    router.input.rest = null
    if (rest !== 'nowhere') pass(rest, piece)
    return null
  }
  if (requests.empty) return null
  router.input.partTried = 0
  let request = piece
  if (part.length > 0) {
    gather(part, piece)
    request = takeGathered(part)
    countPart(router)
  }
  if (routeRequest(router, asArray(request), true) !== 'wait') return null
  router.gated = true
  return request
}

function takePart(router: Router, bytes: Buffer): void {
  if (router.input.rest !== null) {
    if (router.input.rest !== 'nowhere') pass(router.input.rest, bytes)
    return
  }
  gather(router.input.part, bytes)
  if (!countPart(router)) endRouter(router, tooManyParts)
  else if (isTimeToBegin(router)) beginLarge(router)
}

const tooManyParts = 'ERR the endpoint keeps too much of long requests whose keys come late: try again'

/**
 * True if the received part is too large to be kept back, and much larger than at the last search, so that
 * each byte is searched only a few times.
 */
function isTimeToBegin({ input: { part, partTried, rest } }: Router): boolean {
  const least = Math.max(LARGEST_KEPT_BACK_BYTES, Math.min(2 * partTried, LARGEST_HEAD_BYTES))
  return rest === null && part.length > least
}

/** Sends the beginning of a request once its backend is known. */
function beginLarge(router: Router): void {
  const {
    pending,
    input: { part },
  } = router
  if (!hasSignedIn(router)) {
    router.gated = true
    if (pending.size === 0) doExclusively(router, false, () => judgeSender(router))
    return
  }
  const head = part.buffer.subarray(0, part.length)
  const routed = routeRequest(router, head, false)
  if (routed === 'wait') {
    router.input.partTried = 0
    router.gated = true
    return
  }
  router.input.partTried = head.length
  if (routed === 'more') {
    if (head.length <= LARGEST_HEAD_BYTES) return
    answer(router, errorReply('ERR the first key of this command comes too late for a sharded database'))
  }
  router.input.partTried = 0
  takeGathered(part)
  countPart(router)
  // If it was not sent to a backend, it has been answered.
  router.input.rest ??= 'nowhere'
  flushBackends(router)
  flushOutgoing(router)
}

function routeRequest(router: Router, bytes: Buffer, isWhole: boolean): Routed {
  const {
    shards,
    session: { transaction },
  } = router
  const words = readWords(bytes, 2)
  const [first] = words
  if (first === undefined) return 'more'
  const name = capitalsOf(first)
  const request: Request = { name, bytes, isWhole }
  const treat = transaction === null ? specialCommands.get(name) : undefined
  if (treat !== undefined) {
    if (!isWhole) return 'more'
    const treatment = treat(router, bytes)
    if (treatment.kind !== 'ordinary') return routeSpecial(router, request, treatment)
  }
  // Inside of a transaction it would be queued.
  if (shards.areRulesOld && !router.session.triedRules && transaction === null) return renewRules(router)
  const key = keyOf(shards.rules, request, words)
  if (key === 'more') return 'more'
  const isStray = name === 'MSETEX' && isWhole && hasStrayKey(bytes)
  if (transaction !== null) return routeQueued(router, request, key, isStray)
  if (isStray) {
    answer(router, crossSlot)
    return 'sent'
  }
  const slot = key === null ? -1 : hashSlot(key)
  return sendRequest(router, backendOfSlot(router, slot), request, slot)
}

function routeSpecial(router: Router, request: Request, treatment: Treatment): Routed {
  switch (treatment.kind) {
    case 'exclusive':
      if (router.pending.size > 0) return 'wait'
      doExclusively(router, takeReplyOff(router), treatment.act)
      return 'sent'
    case 'to group':
      return sendRequest(router, backendFor(router, treatment.group), request, -1)
    case 'now':
      if (treatment.reply !== null) answer(router, treatment.reply)
      return 'sent'
    case 'ordinary':
      return 'sent'
  }
}

function routeQueued(router: Router, request: Request, key: Buffer | null, isStray: boolean): Routed {
  const {
    session: { transaction },
  } = router
  if (transaction === null) return 'wait'
  const { name, bytes } = request
  const isSpecial = (specialCommands.has(name) && name !== 'INFO') || (key === null && name in subscriptions)
  const next = queueCommand(router, transaction, { name, key, isStray, isSpecial, bytes })
  switch (next.kind) {
    case 'answered':
      return 'sent'
    case 'pass':
      return sendRequest(router, next.backend, request, transaction.slot)
    case 'bind':
      if (router.pending.size === 0) doExclusively(router, false, () => bind(router, transaction, next.slot))
      return 'wait'
    case 'outside':
      router.session.transaction = null
      return routeRequest(router, bytes, request.isWhole)
  }
}
