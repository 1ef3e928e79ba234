import { isDeepStrictEqual } from 'node:util'
import type { ShardSpec, ShardUsers } from '@fairlead/api'
import { EngineError, MADE_BY_FAIRLEAD } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

/** Users of a shard whose spec names none. */
export const noUsers: ShardUsers = { defaultUser: true, users: [] }

/**
 * Returns the spec for the next process. An engine ends at its start if it does not understand a user: so
 * only those are in its file that the last process of the same revision took. Others follow when it answers.
 */
export function atStart(wanted: ShardSpec, last: ProcessRecord | null): ShardSpec {
  const { users = noUsers } = wanted
  const isProven = last?.spec.revision === wanted.revision && isDeepStrictEqual(last.spec.users, users)
  return isProven ? wanted : { ...wanted, users: { ...users, users: [] } }
}

/**
 * Gives a running process the wanted users, and removes others of Fairlead's making, which closes their
 * connections. A user that the engine refuses is removed, too, and tried again at each look.
 */
export async function keepUsers(
  place: Pick<ShardWorkplace, 'probe' | 'save'>,
  { users: wanted = noUsers }: ShardSpec,
  last: ProcessRecord | null,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  if (last === null || last.ended || last.answeredAt === null) return
  if (isDeepStrictEqual(last.spec.users ?? noUsers, wanted)) return
  const { call } = place.probe
  const refused: string[] = []
  await call('ACL', 'SETUSER', 'default', wanted.defaultUser ? 'on' : 'off')
  for (const { name, words } of wanted.users)
    try {
      await call('ACL', 'SETUSER', name, 'reset', ...words)
    } catch (cause) {
      if (!(cause instanceof EngineError)) throw cause
      refused.push(name)
    }
  const kept = wanted.users.map(({ name }) => name).filter((name) => !refused.includes(name))
  for (const name of await madeByFairlead(call)) if (!kept.includes(name)) await call('ACL', 'DELUSER', name)
  if (refused.length === 0) await place.save({ ...last, spec: { ...last.spec, users: wanted } })
  else log.warn({ users: refused }, 'the engine does not understand the rules of these users')
}

async function madeByFairlead(call: ShardWorkplace['probe']['call']): Promise<readonly string[]> {
  const lines = await call('ACL', 'LIST')
  if (!Array.isArray(lines)) throw new Error('the engine answered ACL LIST with something else than a list')
  return lines.flatMap((line) => {
    const [, name = '', ...words] = String(line).split(' ')
    return words.includes(`#${MADE_BY_FAIRLEAD}`) ? [name] : []
  })
}
