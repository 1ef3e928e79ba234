import { isProxyUser, isServerUser } from '@fairlead/engine'
import { ADMIN_USER } from '../engine/engine-config.ts'
import type { CrowdClient } from './decide-crowd.ts'

/** Beyond this, an engine says more than it can know. */
const MOST_LINES = 50_000

/**
 * The connections of a text of CLIENT LIST. `users`: the user of the process at the other end, by the port of
 * that end. A replica counts as ours.
 *
 * Before its login, a connection belongs to the user `default`, and so it does after a login as that user.
 * Engines do not tell the two apart: `cmd` is NULL before the first command, and also names a refused one;
 * `tot-cmds` (valkey) counts executed commands, a login included.
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

/** Engines are users of their own, and speak to each other as the administrative user: as any other, one is a stranger. */
function isOfFairlead(uid: number): boolean {
  return uid === process.geteuid?.() || isProxyUser(uid) || isServerUser(uid)
}

/** No value holds a space. */
function fieldsOf(line: string): ReadonlyMap<string, string> {
  return new Map(
    line.split(' ').map((word) => {
      const at = word.indexOf('=')
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}
