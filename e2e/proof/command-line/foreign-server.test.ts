import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandLine } from '../../../proof/run-command-line.ts'

const uid = '123e4567-e89b-12d3-a456-426614174000'
let answer: RequestListener
const asked: string[] = []
/** Something that is no Fairlead, or one that others have taken over. */
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  answer(request, response)
})
let url: string
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function run(args: readonly string[], by: RequestListener) {
  answer = by
  asked.length = 0
  return commandLine({
    FAIRLEAD_CONFIG: '/nonexistent',
    FAIRLEAD_SERVER: url,
    FAIRLEAD_TOKEN: 'a-token',
  }).run(args)
}

test('an answer that sends elsewhere is told, and nothing is sent there', async () => {
  const elsewhere: RequestListener = (_, response) => {
    response.writeHead(302, { location: `${url}/stolen` }).end('{"moved":true}')
  }
  for (const args of [
    ['db', 'list'],
    ['api', 'GET', '/v1/bdbs'],
    ['api', 'POST', '/v1/bdbs'],
  ]) {
    const done = await run(args, elsewhere)
    expect(done).toMatchObject({ code: 7, stdout: '' })
    expect(done.stderr).toMatch(/ 302\b/)
    expect(asked).toHaveLength(1)
  }
})

test('an answer of another program is told as such, by its first line', async () => {
  const page = await run(['db', 'list'], (_, response) => response.end('<html>\u001b[31m\nsecond'))
  expect(page).toMatchObject({ code: 7, stdout: '' })
  expect(page.stderr).toContain('it answers 200: <html>?[31m\n')
  const empty = await run(['db', 'list'], (_, response) => response.writeHead(204).end())
  expect(empty).toMatchObject({ code: 7, stdout: '' })
  const other = await run(['db', 'list'], (_, response) =>
    response.writeHead(404).end('{"error":"no route"}'),
  )
  expect(other).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('answered 404: {"error":"no route"}'),
  })
})

test('what is not answered in the time that was given is told after that time, once', async () => {
  const silent = await run(['db', 'list', '--timeout', '500ms'], () => undefined)
  expect(silent).toMatchObject({ code: 7, stderr: expect.stringContaining('no answer in time (--timeout)') })
  // On a busy machine the time may end before it is sent.
  expect(asked.length).toBeLessThan(2)
  const half = await run(['db', 'list', '--timeout', '500ms'], (_, response) => response.write('['))
  expect(half).toMatchObject({ code: 7, stderr: expect.stringContaining('no answer in time (--timeout)') })
  expect(await run(['db', 'list', '--timeout', '30d'], () => undefined)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--timeout: 30d'),
  })
})

test('what is no stream is told once, and not followed again and again', async () => {
  const action = { action_uid: uid, lanes: [], phase: 'preparing', outcome: null, bdb_uid: null }
  const page: RequestListener = (request, response) =>
    request.url?.includes('/events') === true
      ? response.setHeader('content-type', 'text/html').write('<html>') // and it does not end
      : response.end(JSON.stringify(action))
  const watched = await run(['actions', 'watch', uid], page)
  expect(watched).toMatchObject({
    code: 7,
    stdout: '',
    stderr: expect.stringContaining('200 and text/html'),
  })
  expect(asked.filter((each) => each.includes('/events'))).toHaveLength(1)
})

test('nothing of a server is an order to the terminal or to Node', async () => {
  const evil = 'a\u001b]0;b\u0007\u009b31m'
  const record = { uid: 1, time: '2026-01-01T00:00:00Z', recorded_at: '2026-01-01T00:00:00Z', type: evil }
  const logs = await run(['audit', 'list'], (_, response) =>
    response.end(
      JSON.stringify([{ ...record, severity: 'INFO', originator: evil, details: { [evil]: evil } }]),
    ),
  )
  expect(logs).toMatchObject({ code: 0, stderr: '' })
  expect(logs.stdout).not.toMatch(/[^\P{Cc}\n\t]/u)
  const wait = await run(['db', 'list'], (_, response) =>
    response.writeHead(429, { 'retry-after': '-5' }).end('{"error_code":"too_many","message":"later"}'),
  )
  expect(wait).toEqual({ code: 7, stdout: '', stderr: 'fairlead: later  [too_many]\n' })
})
