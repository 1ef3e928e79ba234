import { expect, test } from 'vitest'
import type { Link } from '../../link/open-link.ts'
import { checkReach } from './check-reach.ts'

const database = { uid: 1, name: 'orders', tls_mode: 'enabled', endpoints: [] }

/** Checks a node that clients reach at 10.1.2.3, where the endpoint lacks these addresses. */
async function checked(missing: readonly object[]): Promise<readonly (readonly [string, string])[]> {
  const api = {
    listNodes: async () => [{ external_addr: ['10.1.2.3'], missing_addr: [] }],
    listDatabases: {
      async *pages() {
        yield [database]
      },
    },
    getEndpointStats: async () => ({ missing_addr: missing }),
  }
  // It uses no more of it.
  return (await checkReach(api as unknown as Link['api'])).map(({ check, result }) => [check, result])
}

test('an endpoint whose port another process has at an address is a fault', async () => {
  expect(await checked([])).toEqual([['endpoint_addresses', 'ok']])
  expect(await checked([{ addr: '10.1.2.3', why: 'EADDRINUSE' }])).toEqual([
    ['endpoint_ports', 'bad'],
    ['endpoint_addresses', 'ok'],
  ])
})
