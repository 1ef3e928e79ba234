import { runProgram } from './run-program.ts'
import { clientTrees, type Tree } from './tree/trees.ts'

/** Runs a command line of the client package, without server and agent, and returns the exit code. */
export async function runClientAlone(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return await runProgram(args, { trees: [...clientTrees, elsewhere], settings: { env, checkHere: null } })
}

const words = ['up', 'down', 'server', 'agent', 'logs', 'engines', 'store', 'keys']

/** For the client package: hidden commands of a whole installation, which explain where they are. */
export const elsewhere: Tree = {
  words,
  load: async () => (program) => {
    for (const word of words)
      program
        .command(word, { hidden: true })
        .argument('[words...]')
        .allowUnknownOption()
        .helpOption(false)
        .action(() => {
          program.error(
            `error: ${word} is a command of the machine that Fairlead runs on; this is the client alone`,
          )
        })
  },
}
