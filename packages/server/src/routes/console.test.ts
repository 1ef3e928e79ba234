import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type ConsoleFiles, readConsole } from '../http/console-files.ts'
import { createHttp } from '../http/create-http.ts'
import { mountOn } from '../http/mount.ts'
import { answerWithPage, consoleRoutes } from './console-routes.ts'

const file = (text: string) => ({
  type: 'text/javascript; charset=utf-8',
  bytes: Buffer.from(text),
  compressed: { br: Buffer.from(`br ${text}`), gzip: Buffer.from(`gzip ${text}`) },
})
const built: ConsoleFiles = { page: '<!doctype html>', assets: new Map([['main-ABC.js', file('script')]]) }

/** A server with the console and one operation. */
function serverWith(files: ConsoleFiles | null) {
  const app = createHttp({
    identify: async () => {
      throw new Error('no operation here asks for a user')
    },
    onRefused: async () => undefined,
    log: pino({ level: 'silent' }),
    pageAt: (request, reply) => answerWithPage(request, reply, files),
  })
  consoleRoutes(app, files)
  mountOn(app)(operations.getHealth, async () => ({ status: 'ok' as const }))
  return app
}

const fromBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

// invariant: A page of the console runs only what this server sends.
test('every page is the same text, may run only what this server sends, and is asked for again each time', async () => {
  const app = serverWith(built)
  for (const url of ['/', '/databases/7', '/actions/x?tab=1', '/nothing']) {
    const { statusCode, body, headers } = await app.inject({ url, headers: fromBrowser })
    expect([statusCode, body]).toEqual([200, built.page])
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('no-cache')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toContain('unsafe')
  }
})

// invariant: A path of the API is never a page.
test('a path of the API is never a page, nor is anything that a program asks for', async () => {
  const app = serverWith(built)
  const asked = [
    { url: '/v1/databases', headers: fromBrowser },
    { url: '/v2', headers: fromBrowser },
    { url: '/databases/7', headers: { accept: 'application/json' } },
    { url: '/databases/7', headers: {} },
    { method: 'POST' as const, url: '/databases/7', headers: fromBrowser },
  ]
  for (const request of asked) {
    const { statusCode, json } = await app.inject(request)
    expect([statusCode, json().error_code], request.url).toEqual([404, 'not_found'])
  }
  const health = await app.inject({ url: '/healthz', headers: fromBrowser })
  expect(health.json()).toEqual({ status: 'ok' })
  const method = await app.inject({ method: 'POST', url: '/healthz', headers: fromBrowser })
  expect(method.statusCode).toBe(405)
})

test('a file with a hash in its name is kept for ever, and was compressed when it was built', async () => {
  const app = serverWith(built)
  const ask = (name: string, encoding?: string) =>
    app.inject({
      url: `/assets/${name}`,
      headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
    })
  const plain = await ask('main-ABC.js')
  expect([plain.body, plain.headers['content-encoding']]).toEqual(['script', undefined])
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(plain.headers['vary']).toContain('accept-encoding')
  for (const encoding of ['br', 'gzip']) {
    const { body, headers } = await ask('main-ABC.js', encoding)
    expect([body, headers['content-encoding']]).toEqual([`${encoding} script`, encoding])
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
  }
  for (const name of ['main-OLD.js', '..%2findex.html', '.'])
    expect((await ask(name)).statusCode, name).toBe(404)
})

test('where no console is built, the page says so, and the API is as it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-console-'))
  try {
    expect(readConsole(folder)).toBeNull()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const app = serverWith(null)
  const { statusCode, body } = await app.inject({ url: '/', headers: fromBrowser })
  expect(statusCode).toBe(404)
  expect(body).toMatch(/^The web console is not built here\..*\n$/)
  expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200)
})
