import { libraries } from '../../proof/clients/clients.ts'
import { type Findings, startWork } from '../../proof/clients/work.ts'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { untilAction } from '../../proof/way-back.ts'

/**
 * Lets clients of a library work on a database while it is upgraded, rolled back, and upgraded again so that
 * the first shard gets its role back: four handovers. Answers what the clients found. Throws when an action
 * ends otherwise.
 */
export async function goThroughHandovers(
  fairlead: Fairlead,
  name: keyof typeof libraries,
): Promise<Findings> {
  const { api } = fairlead
  const { from, to } = usualPair()
  const library = libraries[name]
  if (library === undefined) throw new Error(`${name} is not among the libraries`)
  const body = { name: freshName('unnoticed'), memory_size: 0, engine_version: from }
  const { uid, port, password } = await createDatabase(fairlead, body)
  const work = await startWork(library, { host: '127.0.0.1', port, password })
  const goOn = () => {
    const goal = work.answers() + 500
    return until(`${name} goes on`, async () => work.answers() > goal)
  }
  const upgrade = async (more: object) => {
    const answer = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to, ...more } })
    return answer.action_uid ?? ''
  }
  const endsAs = async (action: string, outcome: string, handovers: number) => {
    const end = await fairlead.untilEnded(action)
    if (end.outcome !== outcome || end.certificates.length !== handovers)
      throw new Error(`it did not end as ${outcome} after ${handovers} handovers: ${JSON.stringify(end)}`)
  }
  await goOn()
  const first = await upgrade({ rollback_window: 'until_finalized' })
  await untilAction(fairlead, first, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
    return needs_person && rollback_eligible === true
  })
  await goOn()
  await api.rollbackAction({ params: { uid: first } })
  await endsAs(first, 'rolled_back', 2)
  await goOn()
  await endsAs(await upgrade({ preserve_roles: true }), 'completed', 2)
  await goOn()
  return work.stop()
}
