import { randomUUID } from 'node:crypto'
import { type BuildFetch, Refusal, type WantedBuild } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { fetchBuild } from './fetch-build.ts'
import { FetchError } from './fetch-error.ts'

/** Where the agent fetches builds to. */
export interface FetchPlace {
  /** Folder of builds. Made if missing. */
  readonly folder: string
  /** Environment of the agent. apt gets what it needs of it. */
  readonly env: NodeJS.ProcessEnv
}

/** Fetches of builds in the background. Dispose to abort the running ones. */
export interface Fetches extends AsyncDisposable {
  /** Returns the running fetch of the same build, or begins one. Throws Refusal too_many_requests. */
  start(wanted: WantedBuild): BuildFetch
  /** Returns the running fetches and the last ones, the newest first. */
  list(): readonly BuildFetch[]
}

/** A fetch takes a core for seconds, and 160 MB of the disk. */
const AT_ONCE = 2
/** Fetches in memory, besides older ones that run. */
const KEPT = 10

/** Opens the fetches of a node. A work folder that a killed agent left is removed by the next fetch. */
export function openFetches({ folder, env }: FetchPlace, logger: Logger): Fetches {
  const ending = new AbortController()
  const underWay = new Map<string, Promise<void>>()
  let fetches: readonly BuildFetch[] = []
  const change = (id: string, news: Partial<BuildFetch>) => {
    fetches = fetches.map((one) => (one.id === id ? { ...one, ...news } : one))
  }
  const carryOut = async ({ id, flavour, version, alsoUnstable }: BuildFetch) => {
    const wanted = { flavour, version, alsoUnstable }
    try {
      const build = await fetchBuild({
        flavour,
        ...(version !== null && { version }),
        alsoUnstable,
        folder,
        env: environmentOfApt(env),
        signal: ending.signal,
        onProgress: (line) => change(id, { line }),
      })
      change(id, { state: 'done', build, endedAt: Date.now() })
      logger.info({ wanted, build }, 'a build was fetched')
    } catch (cause) {
      change(id, { state: 'failed', fault: explain(cause), endedAt: Date.now() })
      if (!ending.signal.aborted) logger.warn({ wanted, err: cause }, 'a build could not be fetched')
    } finally {
      underWay.delete(id)
    }
  }
  return {
    start(wanted) {
      const same = fetches.find((one) => one.state === 'running' && isOf(one, wanted))
      if (same !== undefined) return same
      if (underWay.size >= AT_ONCE)
        throw new Refusal('too_many_requests', `${AT_ONCE} builds are being fetched`, {
          wayOut: 'ask again when one of them is here',
        })
      const fetch: BuildFetch = {
        id: randomUUID(),
        ...wanted,
        state: 'running',
        line: '',
        fault: null,
        build: null,
        startedAt: Date.now(),
        endedAt: null,
      }
      fetches = [fetch, ...fetches].filter(({ state }, n) => n < KEPT || state === 'running')
      underWay.set(fetch.id, carryOut(fetch))
      return fetch
    },
    list: () => fetches,
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('the agent was stopped'))
      await Promise.all(underWay.values())
    },
  }
}

function isOf(fetch: BuildFetch, { flavour, version, alsoUnstable }: WantedBuild): boolean {
  return fetch.flavour === flavour && fetch.version === version && fetch.alsoUnstable === alsoUnstable
}

/** apt finds programs, its settings and a proxy by these. Other variables of the agent may be secrets. */
const passedOn = /^(PATH|HOME|APT_CONFIG|(https?|ftp|all|no)_proxy|SSL_CERT_(FILE|DIR))$/i

function environmentOfApt(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => passedOn.test(name)))
}

function explain(cause: unknown): NonNullable<BuildFetch['fault']> {
  const [why = ''] = messageOf(cause).split('\n')
  return { code: cause instanceof FetchError ? cause.fault : 'failed', why }
}
