import type { Link } from '../../link/open-link.ts'
import { isOpenWithoutTls, OPEN_WITHOUT_TLS } from '../reach.ts'
import { type Check, fine } from './check.ts'

/** Checks how other machines reach the endpoints of databases; no result if they do not. */
export async function checkReach(api: Link['api']): Promise<readonly Check[]> {
  const nodes = await api.listNodes({})
  const wanted = nodes.flatMap(({ external_addr }) => external_addr)
  if (wanted.length === 0) return []
  const missing = nodes.flatMap(({ missing_addr }) => missing_addr)
  const open: string[] = []
  const deaf: string[] = []
  const query = { limit: 500, fields: 'uid,name,endpoints,tls_mode' }
  for await (const page of api.listDatabases.pages({ query })) {
    open.push(...page.filter(isOpenWithoutTls).map(({ name }) => name))
    for (const { uid, name } of page) {
      const stats = await api.getEndpointStats({ params: { uid } }).catch(() => undefined) // no endpoint, or no proxy
      deaf.push(...(stats?.missing_addr ?? []).map(({ addr, why }) => `${name} at ${addr} (${why})`))
    }
  }
  return [
    ...(deaf.length === 0
      ? []
      : [
          {
            check: 'endpoint_ports',
            result: 'bad' as const,
            what: `endpoints do not listen: ${deaf.join(', ')}`,
            mend: 'if another process has the port there, end it; the proxy tries again by itself',
          },
        ]),
    missing.length === 0
      ? fine('endpoint_addresses', `endpoints serve other machines at ${wanted.join(', ')}`)
      : {
          check: 'endpoint_addresses',
          result: 'bad',
          what: `endpoints do not listen at ${missing.join(', ')}: this machine does not have it`,
          mend: 'give the machine the address, or change FAIRLEAD_ENDPOINT_ADDRESS and start again',
        },
    ...(open.length === 0
      ? []
      : [
          {
            check: 'endpoint_tls',
            result: 'warn' as const,
            what: `databases without TLS: ${open.join(', ')}`,
            mend: OPEN_WITHOUT_TLS,
          },
        ]),
  ]
}
