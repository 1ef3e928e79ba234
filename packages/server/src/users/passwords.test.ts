import { expect, test } from 'vitest'
import { createPasswords } from './passwords.ts'

const passwords = await createPasswords()

test('a password is kept as an argon2id hash with OWASP parameters, another one each time', async () => {
  const [one, other] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(one).not.toBe(other)
})

test('only the right password fits', async () => {
  const hash = await passwords.hash('correct horse')
  expect(await passwords.verify('correct horse', hash)).toBe(true)
  expect(await passwords.verify('correct horsf', hash)).toBe(false)
  expect(await passwords.verify('', hash)).toBe(false)
})

test('nothing fits a user who does not exist, after the same work', async () => {
  expect(await passwords.verify('anything', undefined)).toBe(false)
})

test('a stored text that is no hash is a fault, not a wrong password', async () => {
  await expect(passwords.verify('x', 'plain')).rejects.toThrow('not an argon2id PHC string')
})

test('a storm of logins is answered, up to a limit, and the rest is told to come again', async () => {
  const hash = await passwords.hash('correct horse')
  const answers = await Promise.allSettled(
    Array.from({ length: 100 }, () => passwords.verify('correct horse', hash)),
  )
  const refused = answers.filter((answer) => answer.status === 'rejected')
  expect(refused.length).toBe(34) // 2 at work and 64 waiting
  expect(refused[0]?.reason).toMatchObject({ code: 'too_many_requests' })
})
