import { giveCommand } from '@fairlead/api'
import type { Commands } from '../../fleet/endpoints/commands-service.ts'
import type { Mount } from '../../http/mount.ts'

/** Serves commands to databases. */
export function commandsRoutes(mount: Mount, commands: Commands): void {
  mount(giveCommand, async ({ params, body }, caller) => ({
    response: await commands.give(params.uid, body.command, caller),
  }))
}
