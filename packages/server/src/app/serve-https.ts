import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { messageOf } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { apiHosts, isEveryAddress } from '../config/config-hosts.ts'
import { type HttpsListener, listenHttps } from '../http/https/listen-https.ts'
import { listenOnPort, type Patience } from '../http/listen-on-port.ts'
import type { ApiCertificate } from '../tls/api-certificate.ts'
import type { Tls } from '../tls/tls-service.ts'
import type { Ground } from './open-ground.ts'

/** The API over HTTPS, as users reach it. */
export interface Https {
  readonly url: string
  /** A file with the certificate of the authority, which clients are to trust; null: an operator gave the certificate that is shown. */
  readonly trust: string | null
}

/** Another server may have taken a new certificate, and this one's own may be due for renewal. */
const LOOK_EVERY_MS = 5_000

/** By which clients may call the API of this server over HTTPS; undefined: there is no HTTPS. */
export function hostsOfApi(config: Config): readonly string[] | undefined {
  return config.httpsPort === 0 ? undefined : apiHosts(config, hostname())
}

/**
 * Serves `http` over HTTPS, too, with the certificate that is good now, and keeps that so; null: FAIRLEAD_HTTPS_PORT is 0, or another program has that port and there is `patience`: then
 * it is served as soon as the port is free. `http` does not listen yet. `ended` owns what is to be closed after `http`.
 */
export async function serveHttps(
  { config, folder, log }: Pick<Ground, 'config' | 'folder' | 'log'>,
  tls: Pick<Tls, 'api' | 'whenApiChanges'>,
  http: FastifyInstance,
  patience: Patience | undefined,
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

/** What is shown has the authority, too, if it is ours: a client that does not know it yet can show its fingerprint to a person, and trust it from then on. */
function withAuthority({ cert, key, ca, isOurs }: ApiCertificate): Pick<ApiCertificate, 'cert' | 'key'> {
  return { cert: isOurs ? `${cert}${ca}` : cert, key }
}

function nameOf(host: string): string {
  if (isEveryAddress(host)) return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

/** It is public. Readers see the old one or the new one. */
function keepFile(file: string, text: string): void {
  try {
    if (readFileSync(file, 'utf8') === text) return
  } catch {
    // There is none yet.
  }
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
