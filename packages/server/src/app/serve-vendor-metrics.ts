import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { Server as Front, Socket } from 'node:net'
import { codeOf, messageOf, tlsForClients } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import { inTurn } from '../http/connections/take-in-turn.ts'
import { createHttp } from '../http/create-http.ts'
import { frontOfTls } from '../http/https/front-of-tls.ts'
import type { Metrics } from '../observe/metrics/metrics-service.ts'
import { metricsRoute, type Readers } from '../routes/observe/metrics-routes.ts'
import type { ApiCertificate } from '../tls/api-certificate.ts'
import type { Tls } from '../tls/tls-service.ts'
import type { Ground } from './open-ground.ts'
import { hostsOfApi } from './serve-https.ts'

/** A port that another program has is tried again this often. The certificate is looked at, too. */
const LOOK_EVERY_MS = 5_000
/** Prometheus needs one, and a person another. */
const MOST_CONNECTIONS = 32
const ANSWER_WITHIN_MS = 30_000
/** When the server stops. */
const END_WITHIN_MS = 5_000
const CLOSE_IDLE_EVERY_MS = 50

/** The port of the vendor's metrics. */
export interface VendorPort extends AsyncDisposable {
  /** Where it listens; null: not yet, for another program has the port. */
  readonly port: () => number | null
}

/**
 * Serves `/v2` over HTTPS at FAIRLEAD_METRICS_PORT, with the certificate of the API. Never throws because the port is taken: metrics are no reason not to serve databases. The
 * log says so once, and it is tried again.
 */
export async function serveVendorMetrics(
  { config, log }: Pick<Ground, 'config' | 'log'>,
  metrics: Metrics,
  tls: Pick<Tls, 'api'>,
  readers: Readers,
): Promise<VendorPort> {
  const http = createHttp({
    ...readers,
    log,
    hostNames: [...config.hostNames, ...(hostsOfApi(config) ?? [])],
  })
  metricsRoute(http, '/v2', metrics.vendor, readers)
  await http.ready()
  const { server, busy } = openServer(http)
  const front = frontOfTls(server, { most: MOST_CONNECTIONS, busy })
  let [said, shown] = ['', '']
  const look = async () => {
    try {
      const certificate = await certificateOf(tls)
      if (shown !== certificate.fingerprint) server.setSecureContext(tlsForClients(certificate))
      shown = certificate.fingerprint
      if (!front.listening) await listen(front, config.metricsPort, config.httpsAddress)
      said = ''
    } catch (cause) {
      const why =
        codeOf(cause) === 'EADDRINUSE'
          ? `port ${config.metricsPort} is taken; set FAIRLEAD_METRICS_PORT to another one`
          : messageOf(cause)
      if (said !== why) log.warn({ why }, 'metrics cannot be served at their own port yet')
      said = why
    }
  }
  await look()
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  return {
    port() {
      const address = front.address()
      return typeof address === 'object' && address !== null ? address.port : null
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      if (front.listening) await endAnswers(front, server)
      await http.close()
    },
  }
}

/** `busy`: connections with a request under way. */
function openServer(http: FastifyInstance): { readonly server: Server; readonly busy: ReadonlySet<Socket> } {
  const busy = new Set<Socket>()
  const route = inTurn((request, response) => {
    busy.add(request.socket)
    // Written: a client that does not read its answer can be closed.
    for (const event of ['prefinish', 'close']) response.once(event, () => void busy.delete(request.socket))
    http.routing(request, response)
  })
  const server = createServer(route)
  server.requestTimeout = ANSWER_WITHIN_MS
  // Another one listens for it; without this event Node keeps no list of connections, and looks at no time.
  server.emit('listening')
  server.on('clientError', (_, socket) => socket.destroy())
  return { server, busy }
}

/** Scrapes under way are answered; what takes longer is cut. */
async function endAnswers(front: Front, server: Server): Promise<void> {
  const closed = new Promise((resolve) => front.close(resolve))
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
  const late = setTimeout(() => server.closeAllConnections(), END_WITHIN_MS)
  await closed
  server.close()
  clearInterval(idle)
  clearTimeout(late)
}

async function certificateOf(tls: Pick<Tls, 'api'>): Promise<ApiCertificate> {
  const certificate = await tls.api()
  if (certificate === null) throw new Error('there is no certificate of the API')
  return certificate
}

async function listen(front: Front, port: number, host: string): Promise<void> {
  front.listen({ port, host, exclusive: true })
  await once(front, 'listening')
}
