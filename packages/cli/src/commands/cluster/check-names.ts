import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Link } from '../../link/open-link.ts'
import { type Check, fine } from './check.ts'

const ANSWER_WITHIN_MS = 3_000

/** Checks whether this machine finds the name of an endpoint; no result if endpoints have addresses only. */
export async function checkNames(api: Link['api']): Promise<readonly Check[]> {
  const name = await nameOfAny(api)
  if (name === undefined) return []
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), ANSWER_WITHIN_MS)
  const found = await Promise.race([lookup(name).catch(() => undefined), late])
  clearTimeout(timer)
  if (found !== undefined) return [fine('endpoint_names', `names of endpoints: ${name} is ${found.address}`)]
  return [
    {
      check: 'endpoint_names',
      result: 'warn',
      what: `names of endpoints: this machine does not find ${name}`,
      mend: 'let your DNS answer the names below FAIRLEAD_ENDPOINT_SUFFIX, or leave the suffix out: docs/operate/other-machines.md',
    },
  ]
}

async function nameOfAny(api: Link['api']): Promise<string | undefined> {
  for await (const page of api.listDatabases.pages({ query: { limit: 500, fields: 'endpoints' } })) {
    const names = page.flatMap(({ endpoints: [first] }) => first?.dns_name ?? [])
    const name = names.find((one) => isIP(one) === 0)
    if (name !== undefined) return name
  }
  return undefined
}
