import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'
import { DatabaseUid } from './databases.ts'

const Word = Type.String({ maxLength: 65_536 })
const Words = Type.Array(Word, { minItems: 1, maxItems: 1_024 })

/**
 * POST /v1/bdbs/:uid/command: runs a command as the database's user, on a separate connection. Texts of the
 * answer are UTF-8. Refuses with `command_not_allowed`, `command_failed` (the engine's words), `unavailable`
 * (the command was not sent) and `outcome_unknown` (it was sent, but not answered).
 */
export const giveCommand = operation({
  method: 'POST',
  path: '/v1/bdbs/:uid/command',
  summary: 'Give a database a command, with the rights of its user; it is answered within five seconds',
  permission: 'update_bdb_with_action',
  params: Type.Object({ uid: DatabaseUid }),
  body: closed({
    command: Type.Union([Type.String({ minLength: 1, maxLength: 65_536 }), Words], {
      description:
        'As a line of a command line ("SET key \\"two words\\""), or as a list of words, which are taken as they are',
    }),
    args: Type.Optional(
      Type.Array(Word, { maxItems: 1_024, description: 'Words after these, taken as they are' }),
    ),
  }),
  ok: Type.Object({
    response: Type.Unknown({ description: 'The reply: a text, a number, null, or a list of these' }),
  }),
  errors: ['db_not_exist', 'command_not_allowed', 'command_failed', 'unavailable', 'outcome_unknown'],
})
