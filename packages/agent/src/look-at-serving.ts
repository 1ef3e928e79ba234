import type { Logger } from 'pino'
import { isRunning, openShards } from './folder/open-shards.ts'
import { reportOfProxy } from './proxy/ask-proxy.ts'
import { proxyFolder } from './proxy/proxy-folder.ts'

/** Databases and clients that a stop of all processes of a home would end. */
export interface Serving {
  /** Running engine processes. */
  readonly processes: number
  /** Databases with an endpoint, and connections of their clients; null: no proxy answers. */
  readonly endpoints: { readonly databases: number; readonly clients: number } | null
}

/** Looks at the engines and the proxy of `home`, also while neither server nor agent runs. */
export async function lookAtServing(home: string, logger: Logger): Promise<Serving> {
  const [shards, report] = await Promise.all([
    openShards(home, logger),
    reportOfProxy(proxyFolder(home).socket),
  ])
  return {
    processes: shards.filter(isRunning).length,
    endpoints: report && {
      databases: report.endpoints.length,
      clients: report.endpoints.reduce((all, { connections }) => all + connections, 0),
    },
  }
}
