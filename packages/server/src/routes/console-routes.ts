import { Refusal } from '@fairlead/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleFiles } from '../http/console-files.ts'
import { chooseEncoding } from '../http/output/compress-answers.ts'

/**
 * Lets a page of the console only run its own script and style and call this server. There is no inline
 * script or style, hence no nonce. React sets styles by script, which the policy allows.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const forAYear = 'public, max-age=31536000, immutable'
const notBuilt =
  'The web console is not built here. "npm start" in the repository builds it; the API and the command line work without it.\n'

/**
 * Serves the console at `/` and `/assets/`; null: not built, which `/` reports. `answerWithPage` serves its
 * other paths.
 */
export function consoleRoutes(http: FastifyInstance, files: ConsoleFiles | null): void {
  http.get('/', async (_, reply) => pageFor(reply, files))
  http.get('/assets/:name', async (request, reply) => {
    const { name } = request.params as { readonly name: string }
    const file = files?.assets.get(name)
    if (file === undefined)
      throw new Refusal('not_found', `there is no file ${name}: reload the page, the console is another one`)
    void reply.header('cache-control', forAYear).header('vary', 'accept-encoding').type(file.type)
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    if (encoding === undefined) return file.bytes
    void reply.header('content-encoding', encoding)
    return file.compressed[encoding]
  })
}

/**
 * Answers an unknown path with the console if a browser asks for a page; the console shows missing pages.
 * Returns whether it answered.
 */
export function answerWithPage(
  request: Pick<FastifyRequest, 'method' | 'url' | 'headers'>,
  reply: FastifyReply,
  files: ConsoleFiles | null,
): boolean {
  if (!isForPage(request)) return false
  void reply.send(pageFor(reply, files))
  return true
}

/** Programs accept any type, and the API's paths stay its own. */
function isForPage({ method, url, headers }: Pick<FastifyRequest, 'method' | 'url' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return headers.accept?.includes('text/html') === true && !/^\/(v\d|assets)(\/|\?|$)/.test(url)
}

function pageFor(reply: FastifyReply, files: ConsoleFiles | null): string {
  void reply.header('cache-control', 'no-cache')
  if (files === null) {
    void reply.status(404).type('text/plain; charset=utf-8')
    return notBuilt
  }
  void reply.header('content-security-policy', policy).type('text/html; charset=utf-8')
  return files.page
}
