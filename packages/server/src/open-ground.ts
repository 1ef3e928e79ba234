import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { agentOperations, proxyOperations } from '@fairlead/api'
import { knowUsersOfPorts, usersOfPortsFile } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { connectAgent } from './nodes/agent-link.ts'
import { connectProxy } from './nodes/proxy-link.ts'
import { createEngines } from './reconcile/turn/engines.ts'
import { agentSocket, proxySocket } from './sockets.ts'
import { openStore } from './store/open-store.ts'
import { createSecretBox, readStoreKey } from './store/secret-box.ts'

/** What everything else stands on: the store, its key, the links to the agent, the proxy and the engines. */
export type Ground = Awaited<ReturnType<typeof openGround>>

/** Makes FAIRLEAD_HOME and opens the store in it. `opened` owns what is to be closed; `now` is Unix milliseconds. */
export async function openGround(
  config: Config,
  { now, log }: { readonly now: () => number; readonly log: Logger },
  opened: AsyncDisposableStack,
) {
  mkdirSync(config.home, { recursive: true, mode: 0o700 })
  opened.use(knowUsersOfPorts(usersOfPortsFile(join(config.home, 'proxy'))))
  const readBox = () => createSecretBox(config.storeKey ?? readStoreKey(join(config.home, 'store.key')))
  const store = opened.use(await openStore(join(config.home, 'store.db'), readBox))
  return {
    ...{ config, store, now, log },
    box: readBox(),
    agent: connectAgent(agentOperations, agentSocket(config.home)),
    proxy: connectProxy(proxyOperations, proxySocket(config.home)),
    engines: opened.use(createEngines()),
  }
}
