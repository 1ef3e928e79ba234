import type { FormFile, Operation } from './contract/operation.ts'
import { operationTable } from './operation-table.ts'
import type { operations } from './operations/operations.ts'

/**
 * The operations without their schemas, whose loading takes 200 ms of CPU. With schemas: `operations` of
 * `@fairlead/api`.
 */
export const leanOperations = readTable(operationTable)

/** A line of the table: method and path, then other facts for a client. */
export function lineOf(op: Operation): string {
  const { method, path, upload } = op
  const flags = (['stream', 'paged', 'planned'] as const).filter((flag) => op[flag] === true)
  const file =
    typeof upload === 'object' ? [upload.field, upload.mediaType, upload.missing].join(';') : upload
  return [
    ...[method, path, ...(op.body === undefined ? [] : ['body']), ...flags],
    ...(file === undefined ? [] : [`file=${file}`]),
  ].join(' ')
}

// The table is printed from the operations, and a test compares them.
function readTable(table: Readonly<Record<string, string>>): typeof operations {
  const entries = Object.entries(table).map(([name, line]) => [name, readLine(line)])
  return Object.fromEntries(entries) as unknown as typeof operations
}

function readLine(line: string): object {
  const [method, path, ...words] = line.split(' ')
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length)
  const flags = words.filter((word) => word !== 'body' && !word.startsWith('file='))
  return {
    method,
    path,
    ...(words.includes('body') && { body: {} }),
    ...Object.fromEntries(flags.map((flag) => [flag, true])),
    ...(file !== undefined && { upload: file === 'octets' ? file : formOf(file) }),
  }
}

function formOf(file: string): object {
  const [field, mediaType, missing] = file.split(';')
  return { field, mediaType, missing } satisfies Record<keyof FormFile, string | undefined>
}
