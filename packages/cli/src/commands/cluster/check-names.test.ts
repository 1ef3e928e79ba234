import { expect, test } from 'vitest'
import type { Link } from '../../link/open-link.ts'
import { checkNames } from './check-names.ts'

/** Checks a server whose databases have these names. */
const checked = async (...names: readonly string[]) => {
  const page = names.map((dns_name) => ({ endpoints: [{ dns_name }] }))
  const listDatabases = {
    async *pages() {
      yield page
    },
  }
  // It uses no more of it.
  return (await checkNames({ listDatabases } as unknown as Link['api'])).map(({ result }) => result)
}

test('a name of endpoints that this machine does not find is told, and addresses need none', async () => {
  expect(await checked('127.0.0.1', 'fd00::2')).toEqual([])
  expect(await checked('127.0.0.1', 'localhost')).toEqual(['ok'])
  // A name that no DNS may answer (RFC 6761).
  expect(await checked('redis-10001.fairlead.invalid')).toEqual(['warn'])
})
