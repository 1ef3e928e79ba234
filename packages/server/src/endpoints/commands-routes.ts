import { giveCommand } from '@fairlead/api'
import type { Mount } from '../http/mount.ts'
import type { Commands } from './commands-service.ts'

/** Serves commands to databases. */
export function commandsRoutes(mount: Mount, commands: Commands): void {
  mount(giveCommand, async ({ params, body }, caller) => ({
    response: await commands.give(params.uid, body.command, caller),
  }))
}
