import { startFairlead } from '../../proof/start-fairlead.ts'

/** From the request to the end of the action, for a replicated database without clients, in ms. */
export async function idleUpgradeMs({
  from,
  to,
}: {
  readonly from: string
  readonly to: string
}): Promise<number> {
  await using fairlead = await startFairlead()
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'idle', memory_size: 0, replication: true, engine_version: from },
  })
  await fairlead.untilEnded(action_uid)
  const began = performance.now()
  const upgrade = await fairlead.api.upgradeDatabase({ params: { uid }, body: { engine_version: to } })
  const action = await fairlead.untilEnded(upgrade.action_uid)
  if (action.status !== 'completed')
    throw new Error(`the upgrade ended ${action.status}: ${action.error ?? ''}`)
  return performance.now() - began
}
