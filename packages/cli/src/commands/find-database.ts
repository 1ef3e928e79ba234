import type { Database } from '@fairlead/api'
import { ApiError } from '@fairlead/api/lean'
import type { Link } from '../link/open-link.ts'
import { CommandFault } from '../output/command-fault.ts'

/** Finds a database by name or uid (digits, or `bdb:` and digits). Throws CommandFault with similar names. */
export async function findDatabase({ api }: Link, word: string): Promise<Database> {
  const [, uid] = /^(?:bdb:)?(\d{1,10})$/.exec(word) ?? []
  if (uid !== undefined) return api.getDatabase({ params: { uid: Number(uid) } })
  if (word === '') throw new CommandFault('usage', 'the name of a database is empty')
  const found = await api.listDatabases({ query: { q: word.slice(0, 63) } })
  const one = found.find(({ name }) => name === word)
  if (one !== undefined) return one
  const others =
    found.length > 0 ? found : await api.listDatabases({ query: { limit: 1_000, fields: 'name' } })
  const like = others.map(({ name }) => name).filter((name) => isLike(name, word))
  throw new CommandFault('not_found', `there is no database ${word}`, {
    code: 'db_not_exist',
    next:
      like.length > 0
        ? `did you mean ${like.slice(0, 3).join(', ')}?`
        : 'look what there is: fairlead databases list',
  })
}

/** Names of databases by uid, as far as the user may see them. */
export async function namesOfDatabases({ api }: Link): Promise<ReadonlyMap<number, string>> {
  const query = { limit: 10_000, fields: 'uid,name' }
  const all = await api.listDatabases({ query }).catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 403) return []
    throw cause
  })
  return new Map(all.map(({ uid, name }) => [uid, name]))
}

/** The name of a database; one that is gone, or not seen, has only its uid. */
export function nameOrUid(names: ReadonlyMap<number, string>, uid: number | string): string {
  return names.get(Number(uid)) ?? `bdb:${uid}`
}

/** Equal except for case, a part of it, or two letters away. */
function isLike(name: string, word: string): boolean {
  const [one, other] = [name.toLowerCase(), word.toLowerCase()]
  return one.includes(other) || distance(one, other) <= 2
}

function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (const [n, sign] of [...one].entries()) {
    const next = [n + 1]
    for (const [m, its] of [...other].entries())
      next.push(Math.min((next[m] ?? 0) + 1, (row[m + 1] ?? 0) + 1, (row[m] ?? 0) + (sign === its ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
