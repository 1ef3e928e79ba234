import { argon2Sync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createHashing } from './hashing.ts'

/** The least that Argon2 takes. */
const hashing = await createHashing({ memoryKiB: 8, passes: 1, parallelism: 1 })

test('a password is kept as an argon2id hash with OWASP parameters, another one each time', async () => {
  const dear = await createHashing()
  const [one, other] = await Promise.all([dear.hash('correct horse'), dear.hash('correct horse')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(one).not.toBe(other)
})

test('only the right password fits', async () => {
  const phc = await hashing.hash('correct horse')
  expect(await hashing.find('correct horse', [phc])).toBe(phc)
  expect(await hashing.find('correct horsf', [phc])).toBeUndefined()
  expect(await hashing.find('', [phc])).toBeUndefined()
})

test('several passwords of a user share their salt, and each is found by itself', async () => {
  const one = await hashing.hash('correct horse')
  const two = await hashing.hash('battery staple', one)
  expect(two.split('$')[4]).toBe(one.split('$')[4])
  expect(await hashing.find('correct horse', [one, two])).toBe(one)
  expect(await hashing.find('battery staple', [one, two])).toBe(two)
  expect(await hashing.find('correct staple', [one, two])).toBeUndefined()
})

test('nothing fits a user who does not exist, after the same work', async () => {
  expect(await hashing.find('anything', [])).toBeUndefined()
})

test('a hash with older parameters still fits, and is recognized as old', async () => {
  const salt = Buffer.alloc(16, 1)
  const weak = { message: 'correct horse', nonce: salt, memory: 8_192, passes: 1, parallelism: 1 }
  const bare = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const tag = argon2Sync('argon2id', { ...weak, tagLength: 32 })
  const old = `$argon2id$v=19$m=8192,t=1,p=1$${bare(salt)}$${bare(tag)}`
  expect(await hashing.find('correct horse', [old])).toBe(old)
  expect([hashing.isCurrent(old), hashing.isCurrent(await hashing.hash('x'))]).toEqual([false, true])
})

test('a stored text that is no hash is a fault, not a wrong password', async () => {
  for (let n = 0; n <= hashing.atOnce; n += 1)
    await expect(hashing.find('x', ['plain'])).rejects.toThrow('not an argon2id PHC string')
  expect(await hashing.find('x', [])).toBeUndefined() // each has given its place to the next
})

test('many logins at once are answered up to a limit, and the rest get 429', async () => {
  const phc = await hashing.hash('correct horse')
  const storm = 64 + hashing.atOnce + 34
  const answers = await Promise.allSettled(
    Array.from({ length: storm }, () => hashing.find('correct horse', [phc])),
  )
  const refused = answers.filter((answer) => answer.status === 'rejected')
  expect(refused.length).toBe(34)
  expect(refused[0]?.reason).toMatchObject({ code: 'too_many_requests' })
})
