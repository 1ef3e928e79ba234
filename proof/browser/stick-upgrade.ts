import { breakBuild, type OwnEngines } from '../own-engines.ts'
import type { Fairlead } from '../start-fairlead.ts'
import { untilAction } from '../way-back.ts'

/** What the engine says that does not start. */
export const stuckWords = 'cannot open the file of its modules'

/**
 * Upgrades a database, with a replica, to a build whose program is replaced by one that does not start as
 * soon as the role has moved: the replica cannot follow, and the upgrade is stuck while the new primary
 * serves. Returns the action.
 */
export async function stickUpgrade(
  fairlead: Fairlead,
  uid: number,
  { engines, to }: { readonly engines: OwnEngines; readonly to: string },
): Promise<string> {
  const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to, rollback_window: 'until_finalized' },
  })
  const inPhase = (wanted: string) =>
    untilAction(fairlead, action, `it is ${wanted}`, ({ phase }) => phase === wanted)
  await inPhase('window')
  breakBuild(engines.folder, to, stuckWords)
  await fairlead.api.finalizeAction({ params: { uid: action } })
  await inPhase('stuck')
  return action
}
