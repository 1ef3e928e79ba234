import { hashSlot } from '@fairlead/engine'
import { sizeOf } from '../forwarding/answer-instead.ts'
import { killWith, listOf, refusalOf } from '../forwarding/own-answers.ts'
import { clientQuestion } from '../remembered/client-query.ts'
import { capitalsOf } from '../remembered/command.ts'
import { freshState, userOf } from '../remembered/connection-state.ts'
import { TOO_MUCH_LISTED } from '../traffic/listed-bytes.ts'
import { ask, backendFor, DEFAULT_GROUP } from './backends.ts'
import { collect } from './collected-replies.ts'
import { type Act, crossSlot, errorReply, ok } from './exclusive.ts'
import { askWhetherStranger, hasSignedIn } from './prove-login.ts'
import { countWords, findWord, readWords, wordAt } from './read-words.ts'
import type { Router } from './router.ts'
import {
  concatenate,
  helloWithoutCluster,
  infoWithoutCluster,
  least,
  leastOfAll,
  random,
  scan,
  sum,
  toAll,
  toOpen,
} from './whole-database.ts'

/** Treatment of a command that does not simply go to the group of its key. */
export type Treatment =
  /** Answered by the proxy; null: without a reply. */
  | { readonly kind: 'now'; readonly reply: Buffer | null }
  /** Done while no other request is pending. */
  | { readonly kind: 'exclusive'; readonly act: Act }
  | { readonly kind: 'to group'; readonly group: number }
  | { readonly kind: 'ordinary' }

/** Gets a complete request; reads only the deciding words. */
type Treat = (router: Router, request: Buffer) => Treatment

const ordinary: Treatment = { kind: 'ordinary' }

function now(text: string): Treatment {
  return { kind: 'now', reply: errorReply(`ERR ${text}`) }
}

function exclusive(
  act: (router: Router, request: Buffer, isSilent: boolean) => Promise<Buffer | null>,
): Treat {
  return (router, request) => ({ kind: 'exclusive', act: (isSilent) => act(router, request, isSilent) })
}

/** Chooses by the second word in capitals; other subcommands are ordinary. */
function bySubcommand(treats: Readonly<Record<string, Treat>>): Treat {
  return (router, request) => treats[nameAt(request, 1)]?.(router, request) ?? ordinary
}

const noCluster: Treat = () => now('This instance has cluster support disabled')
const notHere: Treat = (_, request) => now(`${nameAt(request, 0)} is not served for a sharded database`)

/** Another user may have rights that the client did not have before. */
async function signIn(router: Router, request: Buffer): Promise<Buffer> {
  router.session.triedRules = false
  return toOpen(router, request)
}

async function reset(router: Router, request: Buffer): Promise<Buffer> {
  router.session.isKnown = false
  router.session.triedRules = false
  router.session.silent = false
  router.session.watchedSlot = -1
  return toOpen(router, request)
}

const clientReply: Treat = (router, request) => {
  switch (nameAt(request, 2)) {
    case 'ON':
      router.session.silent = false
      router.session.skipsNext = false
      return { kind: 'now', reply: ok }
    case 'OFF':
      return silence(router, () => {
        router.session.silent = true
      })
    case 'SKIP':
      return silence(router, () => {
        router.session.skipsNext = !router.session.silent
      })
    default:
      return ordinary
  }
}

/** Engines refuse it without a login, so an engine is asked first, until the login is known. */
function silence(router: Router, act: () => void): Treatment {
  const prove = async (): Promise<Buffer | null> => {
    const refusal = await askWhetherStranger(router)
    if (refusal === null) act()
    return refusal
  }
  if (!hasSignedIn(router)) return { kind: 'exclusive', act: prove }
  act()
  return { kind: 'now', reply: null }
}

const tracking: Treat = (router, request) => {
  // REDIRECT names another connection by a number that only one engine knows.
  if (findWord(request, ['REDIRECT'], 0) >= 0)
    return now('CLIENT TRACKING with REDIRECT is not served for a sharded database')
  // In broadcast mode all groups report every key that changes.
  return exclusive(findWord(request, ['BCAST'], 0) < 0 ? toOpen : toAll)(router, request)
}

/** Words read of a request: more than a question may have (remembered/commands.ts). */
const MOST_WORDS = 128

/** CLIENT LIST and CLIENT KILL: see forwarding/answer-instead.ts. */
async function answerClients(router: Router, request: Buffer): Promise<Buffer> {
  const backend = backendFor(router, DEFAULT_GROUP)
  const args = readWords(request, MOST_WORDS).slice(1)
  const question = clientQuestion({ name: 'CLIENT', args, cutShort: false })
  if (question === undefined) return ask(backend, request)
  const kind = 'kind' in question ? question.kind : 'kill'
  const refusal = refusalOf(await ask(backend, ['CLIENT', 'ID']), kind)
  if (refusal !== undefined) return errorReply(refusal)
  if ('error' in question) return errorReply(question.error)
  const state = router.defaultBackend?.connection.session.state ?? freshState
  const { peers } = router.shards
  const query = { user: userOf(state), asker: router.visitor.id, selection: question.selection }
  const found = await peers.find(query)
  const { clients, error = collect(router, sizeOf(found)) ? undefined : TOO_MUCH_LISTED } = found
  if (error !== undefined) return errorReply(error)
  if (kind === 'list') return listOf(state.protocol, clients)
  return killWith(clients, question.isAddress, { owner: { peers }, visitor: router.visitor, input: router })
}

/** All watched keys, and the transaction that follows, must be in one slot. */
const watch: Treat = (router, request) => {
  const key = wordAt(request, 1)
  if (key === undefined) return ordinary
  const slot = hashSlot(key)
  if (router.session.watchedSlot >= 0 && router.session.watchedSlot !== slot)
    return { kind: 'now', reply: crossSlot }
  router.session.watchedSlot = slot
  return ordinary
}

const unwatch: Treat = (router) => {
  const {
    shards,
    session: { watchedSlot },
  } = router
  router.session.watchedSlot = -1
  return watchedSlot < 0 ? ordinary : { kind: 'to group', group: shards.slots[watchedSlot] ?? 0 }
}

const begin: Treat = (router, request) => {
  if (countWords(request) > 1) return ordinary
  router.session.transaction = { slot: -1, backend: null, waiting: [], waitingBytes: 0, broken: false }
  return { kind: 'now', reply: ok }
}

const quit: Treat = (router) => {
  router.lastError = ''
  return { kind: 'now', reply: ok }
}

/** Commands that do not simply go to the group of their key. */
export const specialCommands: ReadonlyMap<string, Treat> = new Map(
  Object.entries({
    AUTH: exclusive(signIn),
    HELLO: exclusive(helloWithoutCluster),
    SELECT: exclusive(toOpen),
    RESET: exclusive(reset),
    CLIENT: bySubcommand({
      SETNAME: exclusive(toOpen),
      SETINFO: exclusive(toOpen),
      'NO-EVICT': exclusive(toOpen),
      'NO-TOUCH': exclusive(toOpen),
      CAPA: exclusive(toOpen),
      TRACKING: tracking,
      CACHING: notHere,
      LIST: exclusive(answerClients),
      KILL: exclusive(answerClients),
      REPLY: clientReply,
    }),
    QUIT: quit,
    MULTI: begin,
    WATCH: watch,
    UNWATCH: unwatch,
    CLUSTER: noCluster,
    CLUSTERSCAN: noCluster,
    READONLY: noCluster,
    READWRITE: noCluster,
    ASKING: noCluster,
    // Its lines would come between replies to other requests of the same group.
    MONITOR: notHere,
    SYNC: notHere,
    PSYNC: notHere,
    REPLCONF: notHere,
    INFO: exclusive(infoWithoutCluster),
    DBSIZE: exclusive(sum),
    FLUSHALL: exclusive(toAll),
    FLUSHDB: exclusive(toAll),
    KEYS: exclusive(concatenate),
    SCAN: exclusive(scan),
    RANDOMKEY: exclusive(random),
    WAIT: exclusive(least),
    WAITAOF: exclusive(least),
    SCRIPT: bySubcommand({ LOAD: exclusive(toAll), FLUSH: exclusive(toAll), EXISTS: exclusive(leastOfAll) }),
    FUNCTION: bySubcommand({
      LOAD: exclusive(toAll),
      DELETE: exclusive(toAll),
      FLUSH: exclusive(toAll),
      RESTORE: exclusive(toAll),
    }),
  }),
)

function nameAt(request: Buffer, at: number): string {
  const word = wordAt(request, at)
  return word === undefined ? '' : capitalsOf(word)
}
