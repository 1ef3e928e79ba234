import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { Operation } from '@fairlead/api'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Below this size, compression saves less than a packet. */
const LEAST_BYTES = 1_024
/** More would take threads from hashing and files: then answers are not compressed. */
const MOST_AT_ONCE = 2
/** Fast settings; JSON still shrinks to a tenth. */
const level = { gzip: { level: 4 }, br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } } }
const whole = { gzip: promisify(gzip), br: promisify(brotliCompress) }

/**
 * Compresses JSON answers to GET on separate threads, so that the event loop only copies bytes. Excludes
 * possible secrets (BREACH), event streams and short answers.
 */
export function compressAnswers(app: FastifyInstance): void {
  let running = 0
  const compress = async (text: string, encoding: Encoding): Promise<Buffer> => {
    running += 1
    try {
      return encoding === 'br' ? await whole.br(text, level.br) : await whole.gzip(text, level.gzip)
    } finally {
      running -= 1
    }
  }
  const shrink = (payload: unknown, encoding: Encoding, reply: FastifyReply): Promise<Buffer> | undefined => {
    if (typeof payload !== 'string' || running >= MOST_AT_ONCE) return undefined
    if (Buffer.byteLength(payload) < LEAST_BYTES) return undefined
    return compress(payload, encoding).then((bytes) => {
      encode(reply, encoding)
      return bytes
    })
  }
  // A callback, because a promise would slow every answer down.
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (!mayBeCompressed(request.routeOptions.config.operation, reply)) return done(null, payload)
    void reply.header('vary', 'accept-encoding')
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    if (encoding === undefined || request.method === 'HEAD') return done(null, payload)
    if (payload instanceof Readable)
      return done(null, compressStream(encode(reply, encoding), payload, encoding))
    const shrinking = shrink(payload, encoding, reply)
    if (shrinking === undefined) done(null, payload)
    else shrinking.then((bytes) => done(null, bytes), done)
  })
}

function mayBeCompressed(operation: Operation | undefined, reply: FastifyReply): boolean {
  if (operation?.method !== 'GET' || operation.stream === true || operation.secret === true) return false
  const type = reply.getHeader('content-type')
  return reply.statusCode === 200 && typeof type === 'string' && type.startsWith('application/json')
}

function encode(reply: FastifyReply, encoding: Encoding): FastifyReply {
  return reply.header('content-encoding', encoding).removeHeader('content-length')
}

/** Compresses as fast as the client reads. Closes both ends if it leaves. */
function compressStream(reply: FastifyReply, entries: Readable, encoding: Encoding): Readable {
  const out = encoding === 'br' ? createBrotliCompress(level.br) : createGzip(level.gzip)
  entries.on('error', (cause) => out.destroy(cause))
  out.on('close', () => entries.destroy())
  reply.raw.once('close', () => out.destroy())
  return entries.pipe(out)
}

/** Compression of an answer. */
type Encoding = 'br' | 'gzip'

/** In order of preference. */
const offered: readonly Encoding[] = ['br', 'gzip']

/**
 * The client's preferred encoding by `Accept-Encoding` (RFC 9110, 12.5.3); undefined: no compression.
 * Unreadable parts are ignored.
 */
export function chooseEncoding(header: string | readonly string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const weights = new Map<string, number>()
  for (const part of [header].flat().join(',').slice(0, LONGEST).split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    const quality = parameters.find((word) => word.startsWith('q='))?.slice(2)
    const weight =
      quality === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight)
  }
  const weightOf = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? 0
  const best = offered.toSorted((a, b) => weightOf(b) - weightOf(a))[0]
  if (best === undefined || weightOf(best) === 0) return undefined
  return weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

/** No meaningful header is longer. */
const LONGEST = 1_024
