import { createAgent, createBuildFinder } from '@fairlead/agent'
import { agentSocket, type Config, softwareVersion } from '@fairlead/server/settings'
import { openHome } from '../home/open-home.ts'
import { createLog } from '../parts/create-log.ts'
import { proxyProgram } from '../parts/proxy-program.ts'
import { announce, untilStopped } from '../parts/until-stopped.ts'

/** Linux lets only root open lower ports. */
const FIRST_HIGH_PORT = 1_024

/** Runs this machine's agent until it is stopped. Databases keep running. */
export async function runAgent(config: Config, path: string): Promise<void> {
  const stopped = untilStopped()
  const logger = createLog(config, 'agent')
  openHome(config.home, logger)
  await using agent = await createAgent({
    home: config.home,
    socketPath: agentSocket(config.home),
    nodeUid: 1,
    host: '127.0.0.1',
    memoryLimitBytes: config.nodeMemoryBytes ?? null,
    builds: createBuildFinder({ path, folder: config.engines }),
    primaryHungAfterMs: config.hungAfterSeconds * 1_000,
    proxyProgram: proxyProgram(config),
    proxyLowPorts: hasLowPorts(config),
    proxyVersion: softwareVersion,
    engineWall: config.engineWall,
    logger,
  })
  announce({}, `The agent is ready on ${agent.socketPath}`)
  await stopped
}

/** Returns whether an endpoint or the Sentinel may get a port that needs root. */
function hasLowPorts({ askedPorts, portRange, sentinelPort }: Config): boolean {
  const lowest = Math.min(askedPorts.from, portRange.from, sentinelPort || FIRST_HIGH_PORT)
  return lowest < FIRST_HIGH_PORT
}
