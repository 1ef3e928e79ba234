import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { logOptions } from './create-log.ts'
import { HIDDEN, hideSecrets } from './hide-secrets.ts'

const secret = 'w9Qx-the-secret'

test('bytes and keys are never logged, whatever their field is called', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const shown = hideSecrets({
    a: Buffer.from(secret),
    b: createSecretKey(Buffer.from(secret)),
    c: privateKey,
    d: pem,
    e: [new Uint8Array(4)],
  })
  expect(shown).toEqual({ a: HIDDEN, b: HIDDEN, c: HIDDEN, d: `${HIDDEN}\n`, e: [HIDDEN] })
})

test('a text is known by its shape', () => {
  const token = `eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.${'a'.repeat(40)}`
  expect(hideSecrets(`sent ${token} to it`)).toBe(`sent ${HIDDEN} to it`)
  expect(hideSecrets(`Authorization: Basic ${Buffer.from(secret).toString('base64')}`)).toBe(
    `Authorization: Basic ${HIDDEN}`,
  )
  expect(hideSecrets('$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA')).toBe(HIDDEN)
  expect(hideSecrets(`postgres://me:${secret}@host/db`)).toBe(`postgres://me:${HIDDEN}@host/db`)
})

test('a field that holds a secret is hidden at any depth, in errors and their causes too', () => {
  const cause = Object.assign(new Error('inner'), { login: { username: 'x', password: secret } })
  const err = Object.assign(new Error('outer', { cause }), { adminPassword: secret })
  const shown = JSON.stringify(hideSecrets({ a: { b: [{ userPassword: secret, storeKey: secret }] }, err }))
  expect(shown).not.toContain(secret)
  expect(shown).toContain('"username":"x"')
  expect(shown).toContain('inner')
})

test('a secret in an unexpected place is hidden: in a name, in JSON within a text, as a key of the web, as bytes that went through JSON', () => {
  const key = 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A'
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', d: key }
  const bytes = JSON.parse(JSON.stringify(Buffer.from(secret))) as unknown
  const shown = JSON.stringify(
    hideSecrets({
      [`Bearer ${secret}`]: 1,
      of: new Map([[`Basic ${secret}`, 2]]),
      jwk,
      text: `cannot read ${JSON.stringify({ adminPassword: secret, jwk, access_token: secret, n: 1 })}`,
      bytes,
      symmetric: { kty: 'oct', k: key },
    }),
  )
  for (const each of [secret, key, [...Buffer.from(secret)].join(',')]) expect(shown).not.toContain(each)
  expect(shown).toContain('cannot read')
  expect(shown).toContain('Ed25519')
})

test('what engines and PostgreSQL repeat of a request is hidden, and their words stay', () => {
  const said = [
    `ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' '${secret}' `,
    `ERR Error in ACL SETUSER modifier '>${secret}': Syntax error`,
    `ERR Error in ACL SETUSER modifier '#${secret}': The provided hash must be 64 characters`,
    `Failing row contains (1, mia, ${secret}, 2026-11-20).`,
  ].map((text) => hideSecrets(new Error(text)) as { readonly message: string })
  for (const { message } of said) expect(message).not.toContain(secret)
  expect(said.map(({ message }) => message)).toEqual([
    `ERR unknown command 'HELLO', with args beginning with: ${HIDDEN}`,
    `ERR Error in ACL SETUSER modifier '${HIDDEN}': Syntax error`,
    `ERR Error in ACL SETUSER modifier '${HIDDEN}': The provided hash must be 64 characters`,
    `Failing row contains (${HIDDEN})`,
  ])
})

test('what is no secret stays as it is', () => {
  const line = { why: 'shard 3 waits', uid: 7, at: new Date(0), passwords: 2, hasPassword: true, none: null }
  expect(hideSecrets(line)).toEqual(line)
})

test('the log of each part is written through it', () => {
  const lines: string[] = []
  const log = pino(logOptions('debug', 'server'), { write: (line: string) => void lines.push(line) })
  const err = Object.assign(new Error(`with Bearer ${secret}-and-more`), { password: secret })
  log.warn({ err, deep: { er: { than: { three: { secret } } } } }, 'a turn met trouble')
  log.child({ shard: 's1' }).error(err)
  log.info(`Bearer ${secret}`)
  expect(lines.length).toBe(3)
  expect(lines.join('')).not.toContain(secret)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ part: 'server', err: { type: 'Error' } })
})
