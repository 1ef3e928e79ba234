import pino from 'pino'
import { createAgent } from '../src/agent.ts'
import { builds } from './engines.ts'

/**
 * An agent in a process of its own, for tests that kill it: node run-agent.ts HOME SOCKET [PROXY_PROGRAM as
 * JSON] ['no-wall'].
 */
const [home = '', socketPath = '', proxyProgram = 'null', wall] = process.argv.slice(2)
await createAgent({
  home,
  socketPath,
  nodeUid: 1,
  host: '127.0.0.1',
  memoryLimitBytes: null,
  builds,
  fetchPlace: { folder: `${home}/engines`, env: {} },
  proxyProgram: JSON.parse(proxyProgram) as string[] | null,
  engineWall: wall !== 'no-wall',
  logger: pino({ level: 'silent' }),
})
