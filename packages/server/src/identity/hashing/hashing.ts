import { argon2, createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { Refusal } from '@fairlead/api'

const derive = promisify(argon2)

/** OWASP's parameters for Argon2id: 19 MiB, two passes, one lane. */
const owasp: HashCost = { memoryKiB: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32

/** Node has four threads for such work: one is left to files and names. */
const MOST_AT_ONCE = 3
/** Derivations that may wait: at about 30 ms each, on two cores, the last one waits for 1 s. */
const MAY_WAIT = 64

/** Derives hashes of passwords, a few at a time: each takes memory and time on purpose. */
export interface Hashing {
  /**
   * A PHC string of `password`. `beside`: another password of the same user, whose salt it takes over, so
   * that one derivation tries both. Throws Refusal too_many_requests when too many wait.
   */
  hash(password: string, beside?: string): Promise<string>
  /**
   * Which of these PHC strings does `password` fit? Undefined: none. For an unknown user pass none: the same
   * work is done against a valid hash that belongs to no user, so that the answer takes as long. Throws
   * Refusal too_many_requests when too many wait.
   */
  find(password: string, phcs: readonly string[]): Promise<string | undefined>
  /** Was it made with the parameters of today? */
  isCurrent(phc: string): boolean
  /** How many derivations run at once; more wait. */
  readonly atOnce: number
}

/** Parameters of Argon2id. */
export interface HashCost {
  readonly memoryKiB: number
  readonly passes: number
  readonly parallelism: number
}

interface Phc extends HashCost {
  readonly text: string
  readonly salt: Buffer
  readonly tag: Buffer
}

/** Argon2id, bounded: hashing takes all of a core's memory bandwidth and would starve the API. */
export async function createHashing(current: HashCost = owasp): Promise<Hashing> {
  const atOnce = Math.min(MOST_AT_ONCE, availableParallelism())
  const limited = createQueue(atOnce)
  const hash = (password: string, beside?: string) =>
    limited(async () => {
      const salt = beside === undefined ? randomBytes(SALT_BYTES) : parse(beside).salt
      return print(current, salt, await tagOf(password, salt, current, TAG_BYTES))
    })
  const nobodys = await hash(randomBytes(32).toString('base64'))
  return {
    atOnce,
    hash,
    async find(password, phcs) {
      const exists = phcs.length > 0
      const fits = await limited(() => findAmong(password, (exists ? phcs : [nobodys]).map(parse)))
      return exists ? fits : undefined
    },
    isCurrent: (phc) => {
      const { memoryKiB, passes, parallelism } = parse(phc)
      return (
        memoryKiB === current.memoryKiB && passes === current.passes && parallelism === current.parallelism
      )
    },
  }
}

/** Runs work in its order, `atOnce` pieces at a time. Throws Refusal too_many_requests when MAY_WAIT wait. */
function createQueue(atOnce: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < atOnce) running += 1
    else {
      if (waiting.length >= MAY_WAIT) throw new Refusal('too_many_requests')
      await new Promise<void>((start) => waiting.push(start)) // whose place it takes over
    }
    try {
      return await work()
    } finally {
      const start = waiting.shift()
      if (start === undefined) running -= 1
      else start()
    }
  }
}

/** One derivation for all that share salt and parameters. Every tag is compared, whichever fits. */
async function findAmong(password: string, phcs: readonly Phc[]): Promise<string | undefined> {
  const alike = Map.groupBy(phcs, ({ salt, memoryKiB, passes, parallelism, tag }) =>
    [salt.toString('base64'), memoryKiB, passes, parallelism, tag.length].join(),
  )
  let found: string | undefined
  for (const [first, ...others] of alike.values()) {
    if (first === undefined) continue
    const tag = await tagOf(password, first.salt, first, first.tag.length)
    for (const phc of [first, ...others]) if (timingSafeEqual(tag, phc.tag)) found = phc.text
  }
  return found
}

function parse(text: string): Phc {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(text)
  if (!match) throw new Error('a stored password hash is not an argon2id PHC string')
  const [, memoryKiB, passes, parallelism, salt = '', tag = ''] = match
  return {
    text,
    memoryKiB: Number(memoryKiB),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

function print({ memoryKiB, passes, parallelism }: HashCost, salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`
}

function tagOf(
  password: string,
  nonce: Buffer,
  { memoryKiB, passes, parallelism }: HashCost,
  tagLength: number,
): Promise<Buffer> {
  return derive('argon2id', { message: password, nonce, memory: memoryKiB, passes, parallelism, tagLength })
}

/** PHC strings carry base64 without padding. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** Returns the digest of a password that engines compare, in hex. It is fast to guess: store it sealed. */
export function sha256Of(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}
