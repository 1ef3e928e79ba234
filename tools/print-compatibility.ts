import {
  absentOperations,
  fixedDatabaseFields,
  type NeutralField,
  neutralClusterFields,
  neutralCreationFields,
  neutralPolicies,
  neutralSettings,
  operations,
} from '@fairlead/api'

/** docs/reference/compatibility.md: fields and operations of the wider API, present and absent. */
export function printCompatibility(): string {
  return `${[
    '<!-- Printed by `npm run docs` from packages/api/src/contract/neutral-fields.ts and absent-operations.ts. Do not edit. -->',
    '# Programs of the wider API',
    '',
    'Fairlead has the three operations of its [specification](specification.md), and operations of the API around them, which is the REST API of Redis Enterprise ("the wider API"). For all of them:',
    '',
    '- a request for the present behaviour is accepted; one for another behaviour is refused, and the message names the field and the values that are offered;',
    '- an unknown field is refused with `invalid_request`;',
    '- `null` for an optional field is its absence;',
    '- a new database without `replication` and `data_persistence` has a replica and an append-only file; in the wider API it has neither.',
    '',
    '## Fields of a database',
    '',
    'For `POST /v1/bdbs`, besides the fields of [its contract](openapi.json), and for `PUT /v1/bdbs/{uid}`. A change also accepts every field with the present value of the database. Each line has the reason of the refusal of any other value, then the accepted values.',
    '',
    ...fieldLists(neutralCreationFields, fixedDatabaseFields),
    '',
    ...ANSWERS,
    '',
    '## Fields of the creation of the cluster',
    '',
    'For `POST /v1/bootstrap/create_cluster`.',
    '',
    ...fieldLists(neutralClusterFields),
    '',
    '## Settings of the cluster',
    '',
    'For `PUT /v1/cluster`. `GET /v1/cluster` answers them with the accepted value.',
    '',
    ...fieldLists(neutralSettings),
    '',
    'For `PUT /v1/cluster/policy`, in the same way:',
    '',
    ...fieldLists(neutralPolicies),
    '',
    ...printOperations(),
  ].join('\n')}\n`
}

/** What answers have of these fields. */
const ANSWERS = [
  '° Each database is answered with this field, and the first value. So a program that compares its request with the answer finds no difference.',
  '`ssl` repeats `tls_mode`, and `background_op` has the running action. Other fields above, and passwords that Fairlead does not have, are not answered.',
]

function printOperations(): readonly string[] {
  const listed = Object.values(operations).filter(({ path }) => !/^\/v1\/\w+\/stats/.test(path))
  const byPath = new Map(
    [...Map.groupBy(listed, ({ path }) => path.replace(/:(\w+)/g, '{$1}'))].map(([path, those]) => [
      path,
      those.map(
        ({ method, permission, summary }) =>
          `**${method}** ${summary}${permission === null ? '' : ` (\`${permission}\`)`}`,
      ),
    ]),
  )
  return [
    '## Selected fields',
    '',
    '`GET /v1/bdbs` and `GET /v1/bdbs/{uid}` take `?fields=uid,name`: the answer has only these fields. Unknown names are ignored, because programs name fields that only other databases have. `?extended=true` is accepted and adds nothing.',
    '',
    '## Operations',
    '',
    'With the permission that each needs. Paths like `/v1/bdbs/stats` are in [statistics](statistics.md).',
    '',
    ...[...byPath].map(([path, those]) => `- \`${path}\`: ${those.join('; ')}`),
    '',
    '## Absent operations',
    '',
    'Their paths are answered 404, or 405 if the path has other methods.',
    '',
    '| operation | instead, or the reason |',
    '|---|---|',
    ...absentOperations.map(([operation, why]) => `| \`${operation}\` | ${why} |`),
  ]
}

/**
 * One item for each reason, with its fields and the values that they may have. `answered`: the values in
 * answers.
 */
function fieldLists(
  fields: readonly NeutralField[],
  answered: Readonly<Record<string, unknown>> = {},
): readonly string[] {
  const byReason = Map.groupBy(fields, ({ own, offered }) =>
    own === true ? `may differ: ${offered}` : offered,
  )
  const describe = ({ name, taken }: NeutralField) => {
    const values = taken.map((value) => JSON.stringify(value))
    const first = name in answered ? [JSON.stringify(answered[name])] : []
    const all = [...new Set([...first, ...values])].map((value) => `\`${value}\``)
    return `\`${name}\`${first.length > 0 ? '°' : ''} ${all.join(' or ')}`
  }
  return [...byReason].map(([reason, those]) => `- **${reason}**: ${those.map(describe).join(', ')}`)
}
