import { isReplyError, parseReply } from '@fairlead/engine'
import { nowDoing } from '../heartbeat/breadcrumb.ts'
import { ask, askForParts, backendFor, DEFAULT_GROUP, nextTurn } from './backends.ts'
import { errorReply } from './exclusive.ts'
import { advance, joined } from './order-replies.ts'
import { flushOutgoing, queueForClient } from './outgoing.ts'
import { readWords } from './read-words.ts'
import { type Backend, makePendingReply, type Router } from './router.ts'

/** Returns the answers of all groups' engines, in the order of groups. */
async function askAll(router: Router, request: Buffer): Promise<readonly Buffer[]> {
  return askEach(router, allBackends(router), request)
}

function allBackends(router: Router): readonly (() => Backend)[] {
  return router.shards.upstreams.map((_, group) => () => backendFor(router, group))
}

/** Limit of a request that is passed to several groups in one turn of the event loop. */
const LARGEST_AT_ONCE_BYTES = 16 * 1024

/** Asks the backends. Each parses a large request, so others have their turn in between. */
async function askEach<Reply = Buffer>(
  router: Router,
  backends: readonly (() => Backend)[],
  request: Buffer,
  askOne: (backend: Backend, request: Buffer) => Promise<Reply> = ask as typeof askOne, // the default of Reply says so
): Promise<readonly Reply[]> {
  const replies: Promise<Reply>[] = []
  for (const backend of backends) {
    if (replies.length > 0 && request.length > LARGEST_AT_ONCE_BYTES) await nextTurn(router)
    if (router.closed) return []
    nowDoing('splits a request over the groups for', router.visitor.crumb)
    replies.push(askOne(backend(), request))
  }
  return Promise.all(replies)
}

/** Returns the default backend, and those already used by this client. */
function openBackends(router: Router): readonly Backend[] {
  const defaultBackend = backendFor(router, DEFAULT_GROUP)
  const others = router.backends.flatMap((backend) =>
    backend === undefined || backend === defaultBackend ? [] : [backend],
  )
  return [defaultBackend, ...others]
}

const isError = (reply: Buffer) => reply[0] === MINUS
const MINUS = 0x2d

/** Sends a command to all groups. Returns the first error, otherwise the first reply. */
export async function toAll(router: Router, request: Buffer): Promise<Buffer> {
  return oneOf(await askAll(router, request))
}

async function askOpen(router: Router, request: Buffer): Promise<readonly Buffer[]> {
  return askEach(
    router,
    openBackends(router).map((backend) => () => backend),
    request,
  )
}

/** Sends a command that changes the connection. New backends copy the state of the default backend. */
export async function toOpen(router: Router, request: Buffer): Promise<Buffer> {
  return oneOf(await askOpen(router, request))
}

function oneOf(replies: readonly Buffer[]): Buffer {
  return replies.find(isError) ?? replies[0] ?? noGroup
}

const noGroup = errorReply('ERR the database has no groups')

export async function sendToDefaultGroup(router: Router, request: Buffer): Promise<Buffer> {
  return ask(backendFor(router, DEFAULT_GROUP), request)
}

/** DBSIZE: the sum of all groups. */
export async function sum(router: Router, request: Buffer): Promise<Buffer> {
  const replies = await askAll(router, request)
  const total = replies.reduce((all, reply) => all + Number(parseReply(reply)), 0)
  return replies.find(isError) ?? integer(total)
}

/** WAIT, WAITAOF: the minimum of the groups that this client may have written to. */
export async function least(router: Router, request: Buffer): Promise<Buffer> {
  return leastOf(await askOpen(router, request))
}

/** SCRIPT EXISTS: a script exists if every group has it. */
export async function leastOfAll(router: Router, request: Buffer): Promise<Buffer> {
  let least: Buffer | undefined
  for (const reply of await askAll(router, request)) {
    // Groups are handled in turn: other clients have their turn in between.
    if (reply.length > LARGEST_AT_ONCE_BYTES) await nextTurn(router)
    nowDoing('puts replies of the groups together for', router.visitor.crumb)
    least = least === undefined || isError(least) ? (least ?? reply) : leastDigits(least, reply)
  }
  return least ?? noGroup
}

/** Combines two lists of the same number of zeros and ones, which differ only in these bytes. */
function leastDigits(one: Buffer, other: Buffer): Buffer {
  if (isError(other) || one.length !== other.length) return isError(other) ? other : leastOf([one, other])
  if (one.equals(other)) return one
  const least = Buffer.allocUnsafe(one.length)
  for (let at = 0; at < one.length; at += 1) least[at] = Math.min(one[at] ?? 0, other[at] ?? 0)
  return least
}

function leastOf(replies: readonly Buffer[]): Buffer {
  const values = replies.map(parseReply)
  const [first] = values
  if (values.some(isReplyError) || first === undefined) return oneOf(replies)
  if (!Array.isArray(first)) return integer(Math.min(...values.map(Number)))
  const lists = values.map((value) => (Array.isArray(value) ? value : []))
  const least = first.map((_, n) => Math.min(...lists.map((list) => Number(list[n]))))
  return Buffer.concat([Buffer.from(`*${least.length}\r\n`), ...least.map(integer)])
}

function integer(value: number): Buffer {
  return Buffer.from(`:${value}\r\n`)
}

/** KEYS. Sends the reply itself, because there may be millions of keys. */
export async function concatenate(
  router: Router,
  request: Buffer,
  isSilent: boolean,
): Promise<Buffer | null> {
  const replies = await askEach(router, allBackends(router), request, askForParts)
  nowDoing('puts replies of the groups together for', router.visitor.crumb)
  const error = replies.find((parts) => isError(beginningOf(parts)))
  if (error !== undefined) return joined(error)
  if (isSilent) return null
  const heads = replies.map((parts) => beginningOf(parts).indexOf('\n') + 1)
  const count = replies.reduce(
    (all, parts, n) => all + Number(beginningOf(parts).toString('latin1', 1, (heads[n] ?? 0) - 2)),
    0,
  )
  await tellInTurns(router, [
    Buffer.from(`*${count}\r\n`),
    ...replies.flatMap((parts, n) => without(parts, heads[n] ?? 0)),
  ])
  return null
}

/** Longest head of a reply. */
const LONGEST_HEAD_BYTES = 64

function beginningOf(parts: readonly Buffer[]): Buffer {
  const [first] = parts
  return (first !== undefined && first.length >= LONGEST_HEAD_BYTES ? first : joined(parts)).subarray(
    0,
    LONGEST_HEAD_BYTES,
  )
}

/** Drops the first `bytes` bytes. */
function without(parts: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes
  return parts.map((part) => {
    const rest = part.subarray(left)
    left -= Math.min(left, part.length)
    return rest
  })
}

/** Bytes sent in one turn. */
const LARGEST_TOLD_BYTES = 256 * 1024

/** Sends one reply in parts. Unrequested messages of engines wait until it is sent. */
async function tellInTurns(router: Router, parts: readonly Buffer[]): Promise<void> {
  const pendingReply = makePendingReply({})
  pendingReply.begun = true
  router.pending.push(pendingReply)
  let left = LARGEST_TOLD_BYTES
  for (const part of parts)
    for (let at = 0; at < part.length; ) {
      if (left === 0) {
        flushOutgoing(router)
        await nextTurn(router)
        if (router.closed) return
        left = LARGEST_TOLD_BYTES
      }
      const to = Math.min(part.length, at + left)
      queueForClient(router, part, at, to)
      left -= to - at
      at = to
    }
  pendingReply.done = true
  advance(router)
}

/** RANDOMKEY: from any group that has keys. */
export async function random(router: Router, request: Buffer): Promise<Buffer> {
  const groups = router.shards.upstreams.length
  const from = Math.floor(Math.random() * groups)
  let reply = noGroup
  for (let n = 0; n < groups; n += 1) {
    reply = await ask(backendFor(router, (from + n) % groups), request)
    if (reply[0] === DOLLAR && reply[1] !== MINUS) return reply
  }
  return reply
}
const DOLLAR = 0x24

/**
 * SCAN: groups in sequence. Its cursor is the group's cursor times the number of groups, plus the group.
 * Sends a long answer itself, because COUNT may be any number.
 */
export async function scan(router: Router, request: Buffer, isSilent: boolean): Promise<Buffer | null> {
  const [name, given] = readWords(request, 2)
  const text = given?.toString('latin1') ?? ''
  if (name === undefined || given === undefined || !/^\d{1,20}$/.test(text))
    return sendToDefaultGroup(router, request)
  const groups = BigInt(router.shards.upstreams.length)
  const cursor = BigInt(text)
  const group = cursor % groups
  const own = Buffer.from(String(cursor / groups))
  const reply = await askForParts(backendFor(router, Number(group)), withSecond(request, name, given, own))
  const beginning = beginningOf(reply)
  if (isError(beginning)) return joined(reply)
  const [, head = '', next = '0'] = /^(\*2\r\n)\$\d+\r\n(\d+)\r\n/.exec(beginning.toString('latin1')) ?? []
  const length = head.length + `$${next.length}\r\n${next}\r\n`.length
  const after = nextCursor(BigInt(next), group, groups)
  const parts = [Buffer.from(`${head}$${after.length}\r\n${after}\r\n`), ...without(reply, length)]
  if (parts.reduce((sum, part) => sum + part.length, 0) <= LARGEST_AT_ONCE_BYTES) return joined(parts)
  // The answer is not copied again, and is written in parts.
  if (!isSilent) await tellInTurns(router, parts)
  return null
}

/** Replaces the second word of the request. Both words are slices of its bytes. */
function withSecond(request: Buffer, first: Buffer, second: Buffer, instead: Buffer): Buffer {
  const endOf = (word: Buffer) => word.byteOffset - request.byteOffset + word.length + 2
  const head = Buffer.from(`$${instead.length}\r\n`)
  return Buffer.concat([
    request.subarray(0, endOf(first)),
    head,
    instead,
    Buffer.from('\r\n'),
    request.subarray(endOf(second)),
  ])
}

function nextCursor(next: bigint, group: bigint, groups: bigint): string {
  if (next !== 0n) return String(next * groups + group)
  return group + 1n === groups ? '0' : String(group + 1n)
}

/** INFO: engines report cluster mode, which this endpoint hides. */
export async function infoWithoutCluster(router: Router, request: Buffer): Promise<Buffer> {
  const text = (await sendToDefaultGroup(router, request)).toString('latin1')
  const head = /^([$=])\d+\r\n/.exec(text)
  if (head === null) return Buffer.from(text, 'latin1')
  const body = text
    .slice(head[0].length, -2)
    .replace('cluster_enabled:1', 'cluster_enabled:0')
    .replace(/^(redis_mode|server_mode):cluster/gm, '$1:standalone')
  return Buffer.from(`${head[1]}${body.length}\r\n${body}\r\n`, 'latin1')
}

/** HELLO: hides cluster mode, too. */
export async function helloWithoutCluster(router: Router, request: Buffer): Promise<Buffer> {
  router.session.triedRules = false
  const text = (await toOpen(router, request)).toString('latin1')
  return Buffer.from(
    text.replace('$4\r\nmode\r\n$7\r\ncluster\r\n', '$4\r\nmode\r\n$10\r\nstandalone\r\n'),
    'latin1',
  )
}
