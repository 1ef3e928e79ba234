import type { ShardPasswords, ShardSpec } from '@fairlead/api'
import { validDigests } from '../engine/engine-config.ts'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

/** Picks the passwords of the database's user. */
export function passwordsOf({ userPassword, formerPasswords = [] }: ShardPasswords): ShardPasswords {
  return { userPassword, formerPasswords }
}

/**
 * Gives the database's user of a running process exactly the wanted passwords, in one command. Sessions of a
 * removed password go on: engines end none. Throws EngineError and EngineUnreachable.
 */
export async function keepPasswords(
  place: Pick<ShardWorkplace, 'probe' | 'save'>,
  wanted: ShardSpec,
  last: ProcessRecord | null,
): Promise<void> {
  if (last === null || last.ended || last.answeredAt === null) return
  const [before, digests] = [validDigests(last.spec), validDigests(wanted)]
  if (before.length === digests.length && before.every((digest) => digests.includes(digest))) return
  const given = digests.map((digest) => `#${digest}`)
  await place.probe.call('ACL', 'SETUSER', 'default', 'resetpass', ...given)
  await place.save({ ...last, spec: { ...last.spec, ...passwordsOf(wanted) } })
}
