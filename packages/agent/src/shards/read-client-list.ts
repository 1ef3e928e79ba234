import { isProxyUser } from '@fairlead/engine'
import { ADMIN_USER } from '../engine/engine-config.ts'
import type { CrowdClient } from './decide-crowd.ts'

/** Beyond this, an engine says more than it can know. */
const MOST_LINES = 50_000

/**
 * The connections of a text of CLIENT LIST. `users`: whose process is at the other end, by the port of that end. A replica counts as ours.
 *
 * Before it has signed in, a connection is of the user `default`, as it is behind a sign-in as that user. Engines say of none whether it has:
 * `cmd` is NULL before its first word, and stays what was refused; `tot-cmds` (valkey) counts what was carried out, a sign-in too.
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
  return uid === process.geteuid?.() || isProxyUser(uid)
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
