import { expect, test } from 'vitest'
import { readPostgresAddress } from './read-postgres-address.ts'

const read = (text: string) =>
  readPostgresAddress(text, (sentence) => {
    throw new Error(`FAULT ${sentence}`)
  })

test('an address of PostgreSQL is read with libpq’s words', () => {
  const place = { port: 5432, database: 'd', user: 'u' }
  const checked = (rootCertificate: string | null) => ({ tls: { rootCertificate } })
  expect(read('postgres://u@db.example/d')).toEqual({ ...place, host: 'db.example', ...checked(null) })
  expect(read('postgresql://u@[2001:db8::1]:6543/d?sslrootcert=/ca.pem')).toEqual({
    ...place,
    host: '2001:db8::1',
    port: 6543,
    ...checked('/ca.pem'),
  })
  expect(read('postgres://u@localhost/d')).toEqual({ ...place, host: 'localhost', tls: null })
  expect(read('postgres://a%20b@127.0.0.1/d%25')).toEqual({
    host: '127.0.0.1',
    port: 5432,
    database: 'd%',
    user: 'a b',
    tls: null,
  })
  expect(read('postgres://u@localhost/d?host=/run/pg')).toEqual({ ...place, host: '/run/pg', tls: null })
  expect(read('postgres://u@%2Frun%2Fpg/d')).toEqual({ ...place, host: '/run/pg', tls: null })
  expect(read('postgres://u@localhost/d?sslmode=verify-full').tls).toEqual({ rootCertificate: null })
})

test('an address that PostgreSQL would understand differently is refused, with the reason', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['', 'must be like'],
    ['mysql://u@h/d', 'must be like'],
    ['postgres://u:p@h/d', 'must not have a password'],
    ['postgres://u:p%zz@h/d', 'must not have a password'],
    ['postgres://h/d', 'must be like'],
    ['postgres://u@h', 'must be like'],
    ['postgres://u@h/a/b', 'must be like'],
    ['postgres://u@h/a%2Fb', 'must be like'],
    ['postgres://u%zz@h/d', 'must be like'],
    ['postgres://u@h/d%E0%A4%A', 'must be like'],
    ['postgres://u%00database%00postgres@h/d', 'must be like'],
    ['postgres://u@h/d%00', 'must be like'],
    ['postgres://u@h:0/d', 'must be like'],
    ['postgres://u@h:65536/d', 'must be like'],
    ['postgres://u@h/d?options=-c%20x', 'which we do not know'],
    ['postgres://u@h/d?sslmode=require', 'verify-full'],
    ['postgres://u@h/d?sslmode=disable', 'not this machine'],
    ['postgres://u@h/d?sslmode=verify-full&sslmode=disable', 'twice'],
    ['postgres://u@h/d#?sslmode=disable', 'twice, or a `#`'],
    ['postgres://u@db.example/d?host=10.0.0.1', 'folder of a Unix socket'],
    ['postgres://u@localhost/d?sslrootcert=/ca.pem', 'speaks no TLS'],
    ['postgres://u@localhost/d?host=/run&sslmode=verify-full', 'no TLS on a Unix socket'],
    ['postgres://u@127.0.0.1.evil.example/d?sslmode=disable', 'not this machine'],
  ]
  for (const [text, words] of refused)
    expect([text, messageOf(() => read(text))]).toEqual([
      text,
      expect.stringMatching(new RegExp(`^FAULT .*${words}`)),
    ])
})

function messageOf(work: () => unknown): string {
  try {
    return JSON.stringify(work())
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
