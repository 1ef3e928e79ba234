import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import { permissionsOf } from '@fairlead/api'
import { consoleFolder } from '@fairlead/web'
import { certificateOf, makeFixture, stepOf } from './make-fixture.ts'

/**
 * A server that has the built console, answers as a large Fairlead, and tells events of an upgrade of many
 * groups when it is told to.
 */
export interface FixtureServer extends AsyncDisposable {
  readonly url: string
  /** So many events a second, each of one group of the action `moving`; 0: none. */
  move(perSecond: number): void
  /** So many events, as fast as they are read. Answers the number of the last one. */
  tell(events: number): Promise<number>
  /** How many events it has told. */
  sent(): number
}

const permissions = permissionsOf('admin')
const self = {
  uid: 1,
  name: 'admin',
  role: 'admin',
  role_uids: [1],
  status: 'active',
  auth_method: 'regular',
  permissions,
  resources: [],
  signed_in_by: 'session',
  token_expires: null,
  password_expires: null,
}
const kinds: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}

type Size = Parameters<typeof makeFixture>[0]
type Fixture = ReturnType<typeof makeFixture>

/** Serves it on a free port of the loopback address. */
export async function serveFixture(size: Size): Promise<FixtureServer> {
  const answerOf = createAnswers(size)
  const next = createEvents(size.groups)
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/v1/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      streams.add(response)
      response.on('close', () => streams.delete(response))
      tell(response, { type: 'live', seq: 1 })
    } else if (pathname.startsWith('/v1/')) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answerOf(pathname, searchParams)))
    } else sendFile(pathname, response)
  })
  let timer: NodeJS.Timeout | undefined
  let sent = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    move(perSecond) {
      clearInterval(timer)
      if (perSecond === 0) return
      timer = setInterval(() => {
        const event = next()
        sent += 1
        for (const stream of streams) tell(stream, event)
      }, 1_000 / perSecond)
    },
    sent: () => sent,
    async tell(events) {
      let last = 0
      for (let n = 0; n < events; n += 1) {
        const event = next()
        last = event.seq
        for (const stream of streams) {
          tell(stream, event)
          if (stream.writableNeedDrain) await once(stream, 'drain')
        }
      }
      sent += events
      return last
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** What a path of the API is answered with. */
function createAnswers(size: Size): (path: string, query: URLSearchParams) => unknown {
  const { databases, actions, moving } = makeFixture(size)
  return (path, query) => {
    const part = <T>(all: readonly T[]) => {
      const first = Number(query.get('offset') ?? 0)
      return all.slice(first, first + Number(query.get('limit') ?? 1_000))
    }
    if (path === '/v1/users/self') return self
    if (path === '/v1/bdbs') return part(choose(databases, query))
    if (path.startsWith('/v1/bdbs/stats')) return {}
    if (/^\/v1\/bdbs\/\d+$/.test(path)) return databases[0]
    if (path === '/v1/actions/moving') return moving
    if (path !== '/v1/actions') return []
    const status = query.get('status')
    return {
      'state-machines': part(
        [moving, ...actions].filter((each) => status === null || each.status === status),
      ),
    }
  }
}

/** Filtered and sorted as a list asks for it. */
function choose(databases: Fixture['databases'], query: URLSearchParams): Fixture['databases'] {
  const [q, version, sort] = [query.get('q') ?? '', query.get('engine_version'), query.get('sort') ?? 'uid']
  const found = databases.filter(
    (each) =>
      each.name.includes(q) && (version === null || version === `${each.engine}-${each.engine_version}`),
  )
  if (sort === 'uid' || sort === 'name') return found
  return found.toSorted((a, b) => (sort === '-memory_size' ? b.memory_size - a.memory_size : b.uid - a.uid))
}

/** Files as the server sends them, compressed; every other path is a page. */
function sendFile(path: string, response: ServerResponse): void {
  const name = path.startsWith('/assets/') ? path.slice('/assets/'.length) : null
  response.setHeader('content-type', kinds[name?.split('.').at(-1) ?? ''] ?? 'text/html')
  if (name === null) return void response.end(readFileSync(join(consoleFolder, 'index.html')))
  response.setHeader('content-encoding', 'gzip')
  response.end(readFileSync(join(consoleFolder, 'assets', `${name}.gz`)))
}

/**
 * The next event of the upgrade: a step of one group after the other, and a certificate in each fifth round.
 */
function createEvents(groups: number): () => { readonly type: string; readonly seq: number } {
  let seq = 1
  return () => {
    seq += 1
    const group = seq % groups
    const turn = Math.floor(seq / groups)
    const about = { seq, time: new Date().toISOString(), action_uid: 'moving', bdb_uid: 1 }
    if (turn % 5 === 4) return { ...about, type: 'handover', certificate: certificateOf(group) }
    const steps = { [turn % 4]: stepOf(group, turn % 4, turn % 2 === 0 ? 'running' : 'done') }
    return { ...about, type: 'lanes', lanes: [{ group, steps, lag_bytes: seq * 10 }] }
  }
}

function tell(stream: ServerResponse, event: { readonly type: string; readonly seq: number }): void {
  stream.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}
