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
    '- `null` for an optional field is its absence.',
    '',
    '## Fields of a database',
    '',
    'For `POST /v1/bdbs`, besides the fields of [its contract](openapi.json), and for `PUT /v1/bdbs/{uid}`. A change also accepts every field with the present value of the database. Each line has the reason of the refusal of any other value, then the accepted values.',
    '',
    ...fieldLists(neutralCreationFields),
    '',
    ...printFixed(),
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

/** The fields that answers have for a database with the defaults of the wider API. */
function printFixed(): readonly string[] {
  const values = Object.entries(fixedDatabaseFields).map(
    ([name, value]) => `\`${name}: ${JSON.stringify(value)}\``,
  )
  return [
    '### Fixed fields of answers',
    '',
    'Each database is answered with these fields, so that a program that compares its request with the answer finds no difference:',
    `${values.join(', ')}.`,
    '',
    '`ssl` repeats `tls_mode`, and `background_op` has the running action. Passwords that Fairlead does not have, `tags`, `account_id`, `backup_location` and `dataset_import_sources` are not answered.',
  ]
}

function printOperations(): readonly string[] {
  return [
    '## Selected fields',
    '',
    '`GET /v1/bdbs` and `GET /v1/bdbs/{uid}` take `?fields=uid,name`: the answer has only these fields. Unknown names are ignored, because programs name fields that only other databases have. `?extended=true` is accepted and adds nothing.',
    '',
    '## Operations',
    '',
    '| operation | permission | what it does |',
    '|---|---|---|',
    ...Object.values(operations).map(
      ({ method, path, permission, summary }) =>
        `| \`${method} ${path.replace(/:(\w+)/g, '{$1}')}\` | ${permission === null ? 'none' : `\`${permission}\``} | ${summary} |`,
    ),
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

/** One item for each reason, with its fields and the values that they may have. */
function fieldLists(fields: readonly NeutralField[]): readonly string[] {
  const byReason = Map.groupBy(fields, ({ own, offered }) =>
    own === true ? `may differ: ${offered}` : offered,
  )
  return [...byReason].map(([reason, those]) => `- **${reason}**: ${those.map(describeField).join(', ')}`)
}

function describeField({ name, taken }: NeutralField): string {
  return `\`${name}\` ${taken.map((value) => `\`${JSON.stringify(value)}\``).join(' or ')}`
}
