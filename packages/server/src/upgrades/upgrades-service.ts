import { Refusal } from '@fairlead/api'
import type { Actor } from '../core/access.ts'
import { settleUpgrade, type UpgradeRequest } from '../core/settle-upgrade.ts'
import type { Databases, DatabaseView } from '../databases/databases-service.ts'
import type { Nodes } from '../nodes/nodes-service.ts'

export interface Upgrades {
  /**
   * Settles the request into a goal and begins the upgrade. Answers with the database and the action that leads it
   * there; without one when nothing would change. Throws Refusal, with every obstacle in its message.
   */
  start(uid: number, request: UpgradeRequest, by: Actor): Promise<DatabaseView>
}

export function createUpgrades(deps: { readonly databases: Databases; readonly nodes: Nodes }): Upgrades {
  const { databases, nodes } = deps
  return {
    async start(uid, request, by) {
      const view = await databases.get(uid)
      const { database, action } = view
      const primaries = database.groups.flatMap(({ primaryShard }) => primaryShard ?? [])
      if (action !== undefined || primaries.length < database.groups.length) {
        throw new Refusal(
          'db_busy',
          `another change is in hand on database ${uid}${action ? `: action ${action.uid} (${action.kind}) runs` : ''}; try again when it has ended`,
        )
      }
      const settled = settleUpgrade(
        request,
        { ...database, groups: primaries.length, primaries, lackOfMemory: null },
        await nodes.builds(),
      )
      if ('refused' in settled) throw new Refusal(settled.refused, settled.message)
      return settled.change ? databases.begin(uid, { kind: 'upgrade', goal: settled.goal }, by) : view
    },
  }
}
