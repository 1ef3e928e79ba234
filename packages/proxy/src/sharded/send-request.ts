import { blockingNames, isBlocking, subscriptions } from '../remembered/commands.ts'
import { feed, LARGEST_FED_BYTES, pass } from './backends.ts'
import { doExclusively, takeReplyOff } from './exclusive.ts'
import { mayKeepRequest } from './kept-requests.ts'
import { runsScript } from './read-redirect.ts'
import { countWords, readWords } from './read-words.ts'
import { type Backend, makePendingReply, type PendingReply, type Router } from './router.ts'

/** `sent`: sent or answered. `wait`: must wait for all replies. `more`: its backend is not known yet. */
export type Routed = 'sent' | 'wait' | 'more'

/** A request, or its beginning (`isWhole` is false), whose complete words can be read. */
export interface Request {
  readonly name: string
  readonly bytes: Buffer
  readonly isWhole: boolean
}

/** Sends a request, or its beginning, to a backend, which then owes a reply. `slot`: see PendingReply. */
export function sendRequest(router: Router, backend: Backend, request: Request, slot: number): Routed {
  const { name, bytes, isWhole } = request
  if (name in subscriptions && router.session.transaction === null)
    return subscribe(router, backend, request, slot)
  const isLong = isWhole && bytes.length > LARGEST_FED_BYTES && router.session.transaction === null
  if (isLong && router.pending.size > 0) return 'wait'
  // EXEC comes after its transaction, which a new backend would not have.
  const isEngines = router.session.transaction === null && name !== 'EXEC' && !runsScript(name)
  const mayBeAskedAgain = isWhole && isEngines && mayKeepRequest(router, bytes.length)
  const blocks = router.session.transaction === null && isWhole && mayBlock(request)
  // No engine executes requests after a blocked command.
  if (blocks) router.gated = true
  const silent = takeReplyOff(router)
  const again = mayBeAskedAgain ? bytes : null
  expectReply(router, backend, makePendingReply({ request: again, slot, isEngines, blocks, silent }))
  if (isLong) doExclusively(router, true, () => feed(backend, bytes).then(() => null))
  else pass(backend, bytes)
  if (!isWhole) router.input.rest = backend
  return 'sent'
}

function expectReply(router: Router, backend: Backend, pendingReply: PendingReply): void {
  router.pending.push(pendingReply)
  backend.pending.push(pendingReply)
}

function mayBlock({ name, bytes }: Request): boolean {
  if (!blockingNames.has(name)) return false
  // The first words are enough for this decision.
  return isBlocking({ name, args: readWords(bytes, MOST_OPTIONS).slice(1), cutShort: false })
}

/** The command's name and the deciding options are among these words. */
const MOST_OPTIONS = 64

/** Each channel is confirmed separately; without channels, each present one. */
function subscribe(router: Router, backend: Backend, request: Request, slot: number): Routed {
  const { name, bytes, isWhole } = request
  const change = subscriptions[name]
  if (change === undefined || !isWhole) return 'more'
  const channels = countWords(bytes) - 1
  if (channels === 0 && router.pending.size > 0) return 'wait'
  const has = (each: Backend | undefined) => each?.connection.session.state.subscribed[change.kind].size ?? 0
  const concerned =
    channels > 0 ? [backend] : router.backends.filter((each) => each !== undefined && has(each) > 0)
  router.gated = true
  const silent = takeReplyOff(router)
  for (const each of concerned.length > 0 ? concerned : [backend]) {
    if (each === undefined) continue
    each.replies.keepWord = true
    const left = Math.max(1, channels > 0 ? channels : has(each))
    expectReply(
      router,
      each,
      makePendingReply({ silent, slot, isEngines: true, confirmations: { word: change.word, left } }),
    )
    pass(each, bytes)
  }
  return 'sent'
}
