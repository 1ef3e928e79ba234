import { lineOf, operations } from '@fairlead/api'

/**
 * packages/api/src/operation-table.ts: the operations without their schemas, for clients that have to start
 * fast.
 */
export function printOperationTable(): string {
  const lines = Object.entries(operations).map(([name, op]) => `  ${name}: '${lineOf(op)}',`)
  return `${[
    '// Printed by `npm run docs` from packages/api/src/operations. Do not edit.',
    '',
    '/** Each operation as one line: see without-schemas.ts. */',
    'export const operationTable = {',
    ...lines,
    '} as const',
  ].join('\n')}\n`
}
