import type { Config } from '@fairlead/server'
import { withoutOrders } from '../output/without-orders.ts'

/** The message of a server that is ready. */
export interface Ready {
  readonly url?: string | undefined
  readonly httpsUrl?: string | undefined
  /** A file with the certificate of the authority that clients of HTTPS are to trust. */
  readonly trust?: string | undefined
  readonly generatedPassword?: string | undefined
  readonly bootstrapSecret?: string | undefined
  /** What is needed to create the cluster, before any user can sign in. */
  readonly next?: string | undefined
}

/** What people need to go on: where the API is, and, on the first start, how to get in. */
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

/** The message of a part, made safe to print: the part may run as another user. */
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
