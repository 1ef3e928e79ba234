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

/** docs/reference/compatibility.md: what there is of the wider API, and what there is not. */
export function printCompatibility(): string {
  return `${[
    '<!-- Printed by `npm run docs` from packages/api/src/contract/neutral-fields.ts and absent-operations.ts. Do not edit. -->',
    '# Programs of the wider API',
    '',
    'Fairlead has the three operations of its [specification](specification.md), and those of the wider API around them that are named here. For all of',
    'them: a request that asks for what is done anyway is taken; one that asks for something else is refused, and the message names the field and what is',
    'offered; a field that is not known at all is refused with `invalid_request`. `null` for an optional field is its absence.',
    '',
    '## Fields of a database',
    '',
    'Of `POST /v1/bdbs`, besides the fields of [its contract](openapi.json), and of `PUT /v1/bdbs/{uid}`. A change takes in addition every field of a database with',
    'the value that the database has.',
    '',
    ...fieldTable(neutralCreationFields),
    '',
    ...printFixed(),
    '',
    '## Fields of the creation of the cluster',
    '',
    'Of `POST /v1/bootstrap/create_cluster`.',
    '',
    ...fieldTable(neutralClusterFields),
    '',
    '## Settings of the cluster',
    '',
    'Of `PUT /v1/cluster`. `GET /v1/cluster` answers them with the value that is taken.',
    '',
    ...fieldTable(neutralSettings),
    '',
    'Of `PUT /v1/cluster/policy`, in the same way:',
    '',
    ...fieldTable(neutralPolicies),
    '',
    ...printOperations(),
  ].join('\n')}\n`
}

/** What a program reads of a database that it has created with the defaults of the wider API. */
function printFixed(): readonly string[] {
  const values = Object.entries(fixedDatabaseFields).map(
    ([name, value]) => `\`${name}: ${JSON.stringify(value)}\``,
  )
  return [
    '### What answers say of them',
    '',
    'Each database is answered with these fields, so that a program that compares what it reads with what it sent finds no difference:',
    `${values.join(', ')}.`,
    '',
    '`ssl` says what `tls_mode` says, `background_op` has the action that runs. Passwords that Fairlead does not have, `tags`, `account_id`, `backup_location` and',
    '`dataset_import_sources` are not answered.',
  ]
}

function printOperations(): readonly string[] {
  return [
    '## Selected fields',
    '',
    '`GET /v1/bdbs` and `GET /v1/bdbs/{uid}` take `?fields=uid,name`: the answer has these fields only. A name that it does not have is left out, because',
    'programs name fields that only other databases have. `?extended=true` is taken and adds nothing: it is about modules that are not here.',
    '',
    '## Operations that are there',
    '',
    '| operation | permission | what it does |',
    '|---|---|---|',
    ...Object.values(operations).map(
      ({ method, path, permission, summary }) =>
        `| \`${method} ${path.replace(/:(\w+)/g, '{$1}')}\` | ${permission === null ? 'none' : `\`${permission}\``} | ${summary} |`,
    ),
    '',
    '## Operations that are not there',
    '',
    'Their paths are answered 404, or 405 where the path has other methods.',
    '',
    '| operation | instead, or why not |',
    '|---|---|',
    ...absentOperations.map(([operation, why]) => `| \`${operation}\` | ${why} |`),
  ]
}

function fieldTable(fields: readonly NeutralField[]): readonly string[] {
  return [
    '| field | taken | any other value |',
    '|---|---|---|',
    ...fields.map(({ name, taken, offered, own }) => {
      const values = taken.map((value) => `\`${JSON.stringify(value)}\``).join(' or ')
      const other = own === true ? 'as the contract says' : 'refused'
      return `| \`${name}\` | ${values.replaceAll('|', '\\|')} | ${other}: ${offered} |`
    }),
  ]
}
