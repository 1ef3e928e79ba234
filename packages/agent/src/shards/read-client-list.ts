import { isProxyUser, isServerUser } from '@fairlead/engine'
import { ADMIN_USER } from '../engine/engine-config.ts'
import type { CrowdClient } from './decide-crowd.ts'

/** More lines than an engine can have connections. */
const MOST_LINES = 50_000

/**
 * Parses CLIENT LIST. `users`: the users of the processes at the other ends, by port; a replica counts as
 * ours. A connection belongs to the user `default` before its login, and after a login as that user, and
 * engines do not distinguish the two: `cmd` is NULL before the first command, and also names a refused one;
 * `tot-cmds` (Valkey) counts executed commands, including a login.
 */
export function readClientList(text: string, users: ReadonlyMap<number, number>): readonly CrowdClient[] {
  return text.split('\n', MOST_LINES).flatMap((line) => {
    const fields = fieldsOf(line)
    const id = fields.get('id')
    if (id === undefined || !/^\d+$/.test(id)) return []
    const address = fields.get('addr') ?? ''
    const uid = users.get(Number(address.slice(address.lastIndexOf(':') + 1))) ?? null
    const user = fields.get('user')
    return [
      {
        id,
        uid,
        ageSecs: Number(fields.get('age')),
        isOurs:
          (uid !== null && isOfFairlead(uid)) ||
          user === ADMIN_USER ||
          /[SM]/.test(fields.get('flags') ?? ''),
        isSilent: fields.get('cmd') === 'NULL' || fields.get('tot-cmds') === '0',
        hasSignedIn:
          user !== 'default' ||
          fields.get('resp') === '3' ||
          fields.get('db') !== '0' ||
          ['name', 'lib-name', 'lib-ver'].some((each) => (fields.get(each) ?? '') !== ''),
      },
    ]
  })
}

/** Engines have separate users, and connect to each other as the administrator: others are foreign. */
function isOfFairlead(uid: number): boolean {
  return uid === process.geteuid?.() || isProxyUser(uid) || isServerUser(uid)
}

/** No value contains a space. */
function fieldsOf(line: string): ReadonlyMap<string, string> {
  return new Map(
    line.split(' ').map((word) => {
      const at = word.indexOf('=')
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}
