import { chmod } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import {
  type agentOperations,
  awaitChanges,
  describeNode,
  EPOCH_HEADER,
  type ErrorCode,
  endShardProcess,
  findFreePort,
  type Input,
  listBuilds,
  listFetches,
  type Operation,
  type Output,
  putLimits,
  putModule,
  putPasswords,
  putSaving,
  putShard,
  putShardCertificate,
  putUsers,
  Refusal,
  readBaseline,
  readEpoch,
  readLife,
  removeBackup,
  removeModule,
  removeShard,
  reportBackups,
  reportNode,
  reportShards,
  reportStatistics,
  startBackup,
  startFetch,
  tryBuild,
} from '@fairlead/api'
import {
  createSpanBasket,
  inSpan,
  REQUEST_ID_HEADER,
  readRequestId,
  type SpanBasket,
  underRequest,
} from '@fairlead/engine'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Logger } from 'pino'
import { compileSchema, describeFault } from './process/check-schema.ts'
import { serveTunnels, type TunnelParts } from './tunnels/serve-tunnels.ts'

/** Handlers of the agent's operations. */
export type AgentHandlers = {
  readonly [Name in keyof typeof agentOperations]: Handler<(typeof agentOperations)[Name]>
}
/** The signal is aborted when the caller closes its connection. */
type Handler<Op extends Operation> = (input: Input<Op>, signal: AbortSignal) => Promise<Output<Op>>

/** A spec is about 1 KB. A request for a free port, with all the ports of a node, is 400 KB. */
const MAX_BODY_BYTES = 512 * 1024
/** Connections that may wait to be accepted, one per round of the event loop; the kernel may allow fewer. */
const MOST_WAITING = 4_096

/**
 * Serves the agent's operations, and tunnels to its engines, over the Unix socket at `path`, which only its
 * owner can reach. Dispose to cut the tunnels.
 */
export async function serveAgent(
  path: string,
  parts: TunnelParts,
  handlers: AgentHandlers,
): Promise<AsyncDisposable> {
  const { logger, tunnels } = parts
  const app = fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true })
  app.setValidatorCompiler(({ schema, httpPart }) => compileSchema(schema as object, httpPart))
  app.setErrorHandler((error, _request, reply) => answerError(error as FastifyError, reply, logger))
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, 'not_found', `there is no ${request.method} ${request.url} here`),
  )
  const spans = createSpanBasket()
  const upgraded = new Set<Duplex>()
  app.server.on('upgrade', (_, stream: Duplex) => {
    upgraded.add(stream)
    stream.once('close', () => upgraded.delete(stream))
  })
  serveTunnels(app.server, { ...parts, spans })
  app.addHook('onSend', (request, reply, _payload, done) => {
    void reply.headers(spans.take(request.headers['traceparent']))
    done()
  })
  const mount = mountOn(app, parts, spans)
  mount(reportNode, handlers.reportNode)
  mount(describeNode, handlers.describeNode)
  mount(readLife, handlers.readLife)
  mount(reportShards, handlers.reportShards)
  mount(awaitChanges, handlers.awaitChanges)
  mount(reportStatistics, handlers.reportStatistics)
  mount(putShard, handlers.putShard)
  mount(putLimits, handlers.putLimits)
  mount(putSaving, handlers.putSaving)
  mount(putPasswords, handlers.putPasswords)
  mount(putUsers, handlers.putUsers)
  mount(putShardCertificate, handlers.putShardCertificate)
  mount(removeShard, handlers.removeShard)
  mount(endShardProcess, handlers.endShardProcess)
  mount(readBaseline, handlers.readBaseline)
  mount(listBuilds, handlers.listBuilds)
  mount(startFetch, handlers.startFetch)
  mount(listFetches, handlers.listFetches)
  mount(findFreePort, handlers.findFreePort)
  mount(tryBuild, handlers.tryBuild)
  mount(putModule, handlers.putModule)
  mount(removeModule, handlers.removeModule)
  mount(startBackup, handlers.startBackup)
  mount(reportBackups, handlers.reportBackups)
  mount(removeBackup, handlers.removeBackup)
  await app.listen({ path, backlog: MOST_WAITING })
  // Without a free file or memory, a connection cannot be accepted; the others continue.
  app.server.on('error', (err) => logger.error({ err }, 'a connection could not be accepted'))
  await chmod(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      tunnels[Symbol.dispose]()
      for (const stream of upgraded) stream.destroy()
      await app.close()
    },
  }
}

function mountOn(app: FastifyInstance, parts: TunnelParts, spans: SpanBasket) {
  return <Op extends Operation>(op: Op, handler: Handler<Op>): void => {
    const route = (on: FastifyInstance) =>
      on.route({
        method: op.method,
        url: op.path,
        schema: {
          ...(op.params && { params: op.params }),
          ...(op.body && { body: op.body }),
          response: { 200: op.ok },
        },
        onRequest: (request) => passFence(op, request, parts),
        // Checked again: while the body arrived, another server may have taken over (this one's process may
        // have been stopped).
        preHandler: (request) => passFence(op, request, parts),
        // The schemas above have checked the parts, so they have the operation's types.
        handler: (request: FastifyRequest, reply: FastifyReply) => {
          const { params, body, raw: file } = request
          const input = { params, body, file } as unknown as Input<Op>
          return underRequest(readRequestId(request.headers[REQUEST_ID_HEADER]), () => {
            if (op.fenced === true) parts.logger.info({ method: op.method, url: request.url }, 'an order')
            const span = { name: `${op.method} ${op.path}`, kind: 'server', attributes: ofAgent } as const
            const work = async () => handler(input, abortedWithout(reply))
            return spans.join(request.headers['traceparent'], () => inSpan(span, work))
          })
        },
      })
    if (op.upload === undefined) route(app)
    // In a separate Fastify scope, where bodies are not parsed: elsewhere they are JSON.
    else void app.register(async (room) => void route(takeAnything(room)))
  }
}

const ofAgent = { 'fairlead.part': 'agent' }

/** Checks the epoch of any request that has one, whatever its operation. */
async function passFence(
  op: Operation,
  { headers }: FastifyRequest,
  { fence, life }: TunnelParts,
): Promise<void> {
  life.look()
  const epoch = headers[EPOCH_HEADER]
  if (typeof epoch === 'string') await fence.admit(readEpoch(epoch))
  else if (op.fenced === true) fence.admitUnnamed()
}

function takeAnything(room: FastifyInstance): FastifyInstance {
  room.removeAllContentTypeParsers()
  room.addContentTypeParser('*', (_request, _payload, done) => done(null))
  return room
}

/** Returns a signal that is aborted when the connection closes before the answer is sent. */
function abortedWithout(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}

function answerError(error: FastifyError, reply: FastifyReply, logger: Logger): FastifyReply {
  if (error instanceof Refusal) return refuse(reply, error.code, error.message)
  const fault = error.validation?.[0]
  if (fault) return refuse(reply, 'invalid_request', describeFault(fault))
  if (error.statusCode !== undefined && error.statusCode < 500)
    return refuse(reply, 'invalid_request', error.message)
  logger.error({ err: error }, 'agent request failed')
  return refuse(reply, 'internal_error', error.message)
}

function refuse(reply: FastifyReply, code: ErrorCode, message: string): FastifyReply {
  const { status } = new Refusal(code)
  // Serialized here: an operation's serializer knows only its success.
  return reply
    .code(status)
    .type('application/json')
    .serializer((body: unknown) => JSON.stringify(body))
    .send({ error_code: code, message })
}
