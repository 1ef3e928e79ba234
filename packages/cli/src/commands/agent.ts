import { fileURLToPath } from 'node:url'
import { type AgentConfig, boundLogs, createAgent, createBuildFinder } from '@fairlead/agent'
import { agentLog, agentSocket, type Config, serverLogs, softwareVersion } from '@fairlead/server/settings'
import { openHome } from '../home/open-home.ts'
import { createLog } from '../parts/create-log.ts'
import { nodeFlags } from '../parts/node-flags.ts'
import { announce, untilStopped } from '../parts/until-stopped.ts'

/** Linux lets only root open lower ports. */
const FIRST_HIGH_PORT = 1_024

/** Runs this machine's agent until it is stopped; databases keep running. `onEffect`: for tests. */
export async function runAgent(
  config: Config,
  env: NodeJS.ProcessEnv,
  onEffect?: AgentConfig['onEffect'],
): Promise<void> {
  const stopped = untilStopped()
  const logger = createLog(config, 'agent')
  openHome(config.home, logger)
  await using _logs = boundLogs(() => [agentLog(config.home), ...serverLogs(config.home)], logger)
  await using agent = await createAgent({
    home: config.home,
    socketPath: agentSocket(config.home),
    nodeUid: 1,
    host: '127.0.0.1',
    memoryLimitBytes: config.nodeMemoryBytes ?? null,
    builds: createBuildFinder({ path: env['PATH'] ?? '', folder: config.engines }),
    fetchPlace: { folder: config.engines, env },
    primaryHungAfterMs: config.hungAfterSeconds * 1_000,
    proxyProgram: proxyProgram(config),
    proxyLowPorts: hasLowPorts(config),
    proxyVersion: softwareVersion,
    engineWall: config.engineWall,
    logger,
    ...(onEffect && { onEffect }),
  })
  announce({}, `The agent is ready on ${agent.socketPath}`)
  await stopped
}

/** Returns whether an endpoint or the Sentinel may get a port that needs root. */
function hasLowPorts({ askedPorts, portRange, sentinelPort }: Config): boolean {
  const lowest = Math.min(askedPorts.from, portRange.from, sentinelPort || FIRST_HIGH_PORT)
  return lowest < FIRST_HIGH_PORT
}

/**
 * The command of a node's proxy without its home: Node, flags, program and arguments. Runs from source or
 * published, like this process.
 */
export function proxyProgram({
  sentinelPort,
  proxyWorkers,
}: Pick<Config, 'sentinelPort' | 'proxyWorkers'>): readonly string[] {
  const main = fileURLToPath(import.meta.resolve('@fairlead/proxy/main'))
  const fromSource = main.endsWith('.ts') ? ['--conditions=@fairlead/source'] : []
  const sentinel = ['--sentinel-port', String(sentinelPort)]
  const workers = proxyWorkers === undefined ? [] : ['--workers', String(proxyWorkers)]
  return [process.execPath, ...nodeFlags('proxy'), ...fromSource, main, ...sentinel, ...workers]
}
