import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { messageOf } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { apiHosts, isEveryAddress } from '../config/config-hosts.ts'
import { type HttpsListener, listenHttps } from '../http/https/listen-https.ts'
import { listenOnPort, type PortRetry } from '../http/listen-on-port.ts'
import type { ApiCertificate } from '../tls/api-certificate.ts'
import type { Tls } from '../tls/tls-service.ts'
import type { Infrastructure } from './open-infrastructure.ts'

/** The HTTPS address of the API. */
export interface Https {
  readonly url: string
  /** File with the authority's certificate, for clients to trust; null: an operator's certificate is used. */
  readonly trust: string | null
}

/** A certificate may be due for renewal, or was replaced through another server. */
const LOOK_EVERY_MS = 5_000

/** Hosts by which clients call this server over HTTPS; undefined: HTTPS is off. */
export function hostsOfApi(config: Config): readonly string[] | undefined {
  return config.httpsPort === 0 ? undefined : apiHosts(config, hostname())
}

/**
 * Also serves `http`, which must not listen yet, over HTTPS, with a current certificate. Returns null if
 * FAIRLEAD_HTTPS_PORT is 0, or if another program has the port and there is `patience`: then it is served as
 * soon as the port is free. Registers in `ended` what to close after `http`.
 */
export async function serveHttps(
  { config, folder, log }: Pick<Infrastructure, 'config' | 'folder' | 'log'>,
  tls: Pick<Tls, 'api' | 'whenApiChanges'>,
  http: FastifyInstance,
  patience: PortRetry | undefined,
  ended: AsyncDisposableStack,
): Promise<Https | null> {
  const { httpsPort: port, httpsAddress: host } = config
  const pair = port === 0 ? null : await tls.api()
  if (pair === null) return null
  let listener: HttpsListener | undefined
  http.addHook('preClose', async () => listener?.stop())
  await http.ready()
  const settings = { host: 'FAIRLEAD_HTTPS_ADDRESS', port: 'FAIRLEAD_HTTPS_PORT' }
  const taken = Promise.withResolvers<'taken'>()
  const onTaken = (why: string) => {
    patience?.onTaken(why)
    taken.resolve('taken')
  }
  let shown = pair
  const listening = listenOnPort(
    async (place) => {
      listener = await listenHttps({ http, place, pair: withAuthority(shown) })
      return listener
    },
    { host, port, settings },
    { patience: patience && { onTaken, stop: patience.stop } },
  )
  const last = listening.catch((cause: unknown) => {
    log.debug({ why: messageOf(cause) }, 'HTTPS was not served')
    return null
  })
  ended.defer(async () => await (await last)?.[Symbol.asyncDispose]())
  const file = resolve(join(folder, 'ca.pem'))
  keepFile(file, pair.ca)
  tls.whenApiChanges((certificate) => {
    shown = certificate
    listener?.show(withAuthority(certificate))
    keepFile(file, certificate.ca)
  })
  const looking = setInterval(() => {
    tls
      .api()
      .catch((cause) => log.warn({ why: messageOf(cause) }, 'the certificate of the API cannot be read'))
  }, LOOK_EVERY_MS)
  ended.defer(() => clearInterval(looking))
  const made = await Promise.race([listening, taken.promise])
  if (made === 'taken') return null
  return { url: `https://${nameOf(host)}:${made.port}`, trust: pair.isOurs ? file : null }
}

/** Appends the authority if it is ours, so that new clients can show its fingerprint to a person. */
function withAuthority({ cert, key, ca, isOurs }: ApiCertificate): Pick<ApiCertificate, 'cert' | 'key'> {
  return { cert: isOurs ? `${cert}${ca}` : cert, key }
}

function nameOf(host: string): string {
  if (isEveryAddress(host)) return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

/** Replaces a public file atomically. */
function keepFile(file: string, text: string): void {
  try {
    if (readFileSync(file, 'utf8') === text) return
  } catch {
    // The file does not exist yet.
  }
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
