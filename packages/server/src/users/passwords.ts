import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Refusal } from '@fairlead/api'

const derive = promisify(argon2)

/** OWASP's parameters for Argon2id: 19 MiB, two passes, one lane. */
const current = { memoryKiB: 19_456, passes: 2, parallelism: 1 } as const
const tagBytes = 32

/** Hashing is memory-bound and would starve the API: so many at once, and so many may wait. */
const AT_ONCE = 2
const MAY_WAIT = 64

export interface Passwords {
  /** A PHC string of `password`. Throws Refusal too_many_requests when too many wait. */
  hash(password: string): Promise<string>
  /**
   * Does `password` fit `phc`? For an unknown user pass undefined: the same work is done against a valid hash of
   * nobody's password, so that the answer takes as long and is no.
   */
  verify(password: string, phc: string | undefined): Promise<boolean>
}

export async function createPasswords(): Promise<Passwords> {
  const limited = limit(AT_ONCE, MAY_WAIT)
  const hash = (password: string) => limited(() => encode(password, randomBytes(16)))
  const nobodys = await hash(randomBytes(32).toString('base64'))
  return {
    hash,
    verify: async (password, phc) => {
      const fits = await limited(() => fitsHash(password, phc ?? nobodys))
      return fits && phc !== undefined
    },
  }
}

async function encode(password: string, salt: Buffer): Promise<string> {
  const { memoryKiB, passes, parallelism } = current
  const tag = await tagOf(password, salt, current, tagBytes)
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`
}

async function fitsHash(password: string, phc: string): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(phc)
  if (!match) throw new Error('a stored password hash is not an argon2id PHC string')
  const [, memoryKiB, passes, parallelism, salt = '', tag = ''] = match
  const expected = Buffer.from(tag, 'base64')
  const parameters = {
    memoryKiB: Number(memoryKiB),
    passes: Number(passes),
    parallelism: Number(parallelism),
  }
  return timingSafeEqual(
    await tagOf(password, Buffer.from(salt, 'base64'), parameters, expected.length),
    expected,
  )
}

function tagOf(
  password: string,
  nonce: Buffer,
  { memoryKiB, passes, parallelism }: { memoryKiB: number; passes: number; parallelism: number },
  tagLength: number,
): Promise<Buffer> {
  return derive('argon2id', { message: password, nonce, memory: memoryKiB, passes, parallelism, tagLength })
}

/** PHC strings carry base64 without padding. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** Whoever ends hands its place to the one who waits longest. */
function limit(atOnce: number, mayWait: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = atOnce
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else if (waiting.length >= mayWait) throw new Refusal('too_many_requests')
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
