import {
  absentOperations,
  type NeutralField,
  neutralClusterFields,
  neutralCreationFields,
  operations,
} from '@fairlead/api'

/** docs/compatibility.md: what there is of the wider API, and what there is not. */
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
    '## Fields of the creation of the cluster',
    '',
    'Of `POST /v1/bootstrap/create_cluster`.',
    '',
    ...fieldTable(neutralClusterFields),
    '',
    ...printOperations(),
  ].join('\n')}\n`
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
