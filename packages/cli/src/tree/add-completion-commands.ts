import { Argument, type Command } from 'commander'

/** Adds `completion`, which needs no server. */
export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description(
      'print the script that lets a shell complete commands, options and names; its first lines show how to load it',
    )
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish', 'powershell']))
    .action(async (shell: 'bash' | 'zsh' | 'fish' | 'powershell') => {
      const { printScript } = await import('../commands/completion/shell-scripts.ts')
      process.stdout.write(printScript(shell))
    })
}
