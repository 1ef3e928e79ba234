import { runProgram } from './run-program.ts'
import { elsewhere } from './tree/elsewhere.ts'
import { clientTrees } from './tree/trees.ts'

/** Runs a command line of the client package, without server and agent, and returns the exit code. */
export async function runClientAlone(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return await runProgram(args, { trees: [...clientTrees, elsewhere], settings: { env, checkHere: null } })
}
