import type { MachineSettings } from './client-command.ts'
import { clientTrees, type Tree } from './trees.ts'

/** Parts about this machine, which need server and agent on it. */
const machineTrees: readonly Tree<MachineSettings>[] = [
  {
    words: ['up', 'down', 'server', 'agent'],
    load: async () => (await import('./add-part-commands.ts')).addPartCommands,
  },
  {
    words: ['logs'],
    load: async () => (await import('./add-part-commands.ts')).addLogsCommand,
  },
  {
    words: ['engines'],
    load: async () => (await import('./add-part-commands.ts')).addEnginesCommands,
  },
  {
    words: ['audit', 'store', 'keys', 'certificates', 'users'],
    load: async () => (await import('./add-operator-commands.ts')).addOperatorCommands,
  },
]

/** All parts, in the order of help. Only those with the first word are loaded. */
export const trees: readonly Tree<MachineSettings>[] = [...clientTrees, ...machineTrees]
