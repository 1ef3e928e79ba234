import type { Config } from '@fairlead/server'
import { withoutOrders } from '../output/without-orders.ts'

/** A server's message when it is ready. */
export interface Ready {
  readonly url?: string | undefined
  readonly httpsUrl?: string | undefined
  /** File with the authority's certificate for clients of HTTPS. */
  readonly trust?: string | undefined
  readonly generatedPassword?: string | undefined
  readonly bootstrapSecret?: string | undefined
  /** The next thing to do: create the cluster, before any user can sign in. */
  readonly next?: string | undefined
}

/** The text for people: the API's address, and on the first start how to sign in. */
export function describeReady(
  { adminUsername }: Config,
  { url = '', httpsUrl, trust, generatedPassword, bootstrapSecret, next }: Ready,
): string {
  const secure = httpsUrl === undefined ? '' : ` and ${httpsUrl}`
  const how = trust === undefined ? '' : `\nClients trust the latter by this file: curl --cacert ${trust}`
  const ready = `Fairlead is ready at ${url}${secure}${how}`
  const secret = bootstrapSecret ?? 'as in FAIRLEAD_BOOTSTRAP_SECRET'
  if (next === 'create')
    return `${ready}\nIt waits to be created: POST ${url}/v1/bootstrap/create_cluster   bootstrap_secret: ${secret}`
  if (generatedPassword === undefined) return ready
  return `${ready}\nFirst user: ${adminUsername}   password: ${generatedPassword}   (it is shown only this once)`
}

/** Makes a part's message printable: the part may run as another user. */
export function readyOf(news: unknown): Ready {
  const text = (name: keyof Ready): string | undefined => {
    const value = (news as Readonly<Record<string, unknown>> | null)?.[name]
    return typeof value === 'string' ? withoutOrders(value) : undefined
  }
  return {
    url: text('url'),
    httpsUrl: text('httpsUrl'),
    trust: text('trust'),
    generatedPassword: text('generatedPassword'),
    bootstrapSecret: text('bootstrapSecret'),
    next: text('next'),
  }
}
