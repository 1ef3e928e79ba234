import type { CheckHere } from './commands/cluster/doctor.ts'
import { runProgram } from './run-program.ts'
import { trees } from './tree/machine-trees.ts'

/** Runs a command line with all commands, and returns the exit code. */
export async function runWhole(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const config = () => readConfig(env)
  const checkHere: CheckHere = async (context) =>
    (await import('./commands/cluster/check-here.ts')).checkHere(context, config)
  return await runProgram(args, { trees, settings: { env, config, checkHere } })
}

/** The client's variables, unknown to server and agent. */
const ofClient: readonly string[] = [
  ...['FAIRLEAD_SERVER', 'FAIRLEAD_PROFILE', 'FAIRLEAD_TOKEN', 'FAIRLEAD_CA_FILE', 'FAIRLEAD_OUTPUT'],
  ...['FAIRLEAD_CONFIG', 'FAIRLEAD_ASCII', 'FAIRLEAD_PROGRESS', 'FAIRLEAD_DEBUG'],
]

async function readConfig(env: NodeJS.ProcessEnv) {
  const { loadConfig } = await import('@fairlead/server/settings')
  return loadConfig(Object.fromEntries(Object.entries(env).filter(([name]) => !ofClient.includes(name))))
}
