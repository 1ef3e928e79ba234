import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createControlPlane } from '../src/app/app.ts'
import { type Config, loadConfig } from '../src/config/config.ts'
import { openStore, type Store } from '../src/store/open-store.ts'
import { createSecretBox, readStoreKey } from '../src/store/secret-box.ts'
import { tamperWith, testStorePlace } from './open-test-store.ts'

/** A whole server in this process, without an agent, with a clock that the test moves. */
export interface TestControlPlane extends AsyncDisposable {
  readonly home: string
  readonly config: Config
  readonly url: string
  /** All lines that it has logged, at every level. */
  readonly logged: string[]
  /** Moves its clock. */
  pass(time: { readonly seconds?: number; readonly days?: number }): void
  /** Stops it and starts it again on the same home. */
  restart(): Promise<void>
  /** Stops it, opens its store, and starts it again. */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>
  /** Stops the server, changes its store, and starts the server again. */
  tamper(statements: string): Promise<void>
  send(
    method: string,
    path: string,
    options?: { readonly auth?: string; readonly body?: unknown; readonly headers?: Record<string, string> },
  ): Promise<Answer>
  /** An Authorization header with a fresh token of this user. */
  signIn(username: string, password: string, ttl?: number): Promise<string>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export const adminPassword = 'the-first-password'

/** The least that Argon2 takes. */
const least = { memoryKiB: 8, passes: 1, parallelism: 1 }

const own = { FAIRLEAD_HTTP_PORT: '0', FAIRLEAD_HTTPS_PORT: '0', FAIRLEAD_ADMIN_PASSWORD: adminPassword }

type Change = Partial<Config> & { readonly hashCost?: typeof least }

/** Starts a server. By default, its password hashes cost next to nothing. */
export async function startControlPlane(change: Change = {}): Promise<TestControlPlane> {
  const home = await mkdtemp(join(tmpdir(), 'fairlead-server-'))
  const logged: string[] = []
  const place = await testStorePlace(join(home, 'store.db'))
  const config = {
    ...loadConfig({ ...own, FAIRLEAD_HOME: home }),
    ...(typeof place !== 'string' && { store: place.address }),
    ...change,
  }
  let aheadMs = 0
  const world = {
    hashCost: change.hashCost ?? least,
    now: () => Date.now() + aheadMs,
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
  }
  let running = await createControlPlane(config, world)

  const send: TestControlPlane['send'] = (method, path, options) => sendTo(running.url, method, path, options)
  return {
    home,
    config,
    logged,
    send,
    get url() {
      return running.url
    },
    pass({ seconds = 0, days = 0 }) {
      aheadMs += (seconds + days * 86_400) * 1000
    },
    async restart() {
      await running[Symbol.asyncDispose]()
      running = await createControlPlane(config, world)
    },
    async withStore(work) {
      await running[Symbol.asyncDispose]()
      try {
        await using store = await openStore(place, () =>
          createSecretBox(config.storeKey ?? readStoreKey(join(home, 'store.key'))),
        )
        return await work(store)
      } finally {
        running = await createControlPlane(config, world)
      }
    },
    async tamper(statements) {
      await running[Symbol.asyncDispose]()
      await tamperWith(place, statements)
      running = await createControlPlane(config, world)
    },
    async signIn(username, password, ttl = 3_600) {
      const { body } = await send('POST', '/v1/users/authorize', { body: { username, password, ttl } })
      if (typeof body['access_token'] !== 'string') throw new Error(`not signed in: ${JSON.stringify(body)}`)
      return `Bearer ${body['access_token']}`
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function sendTo(
  url: string,
  method: string,
  path: string,
  { auth, body, headers }: NonNullable<Parameters<TestControlPlane['send']>[2]> = {},
): Promise<Answer> {
  const response = await fetch(new URL(path, url), {
    method,
    headers: {
      // A kept connection delays the stop of a server by a second.
      connection: 'close',
      ...(auth !== undefined && { authorization: auth }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, body: answer }
}

/** An Authorization header with name and password. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
