import { runProgram } from './run-program.ts'
import { elsewhere } from './tree/elsewhere.ts'
import { clientTrees } from './tree/trees.ts'

/** Runs a command line with the commands that speak to a server, and returns the exit code. Nothing of server and agent is on this machine. */
export async function runClientAlone(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return await runProgram(args, { trees: [...clientTrees, elsewhere], settings: { env, checkHere: null } })
}
