import type { KyselyPlugin, OperationNode, RootOperationNode, UnknownRow } from 'kysely'
import type { SecretBox } from './secret-box.ts'

/** Columns with a password. */
const passwords: ReadonlySet<string> = new Set(['admin_password', 'user_password', 'password_sha256'])
/** JSON columns whose module arguments (`args`, at any depth) may be secret. The rest is searched as text. */
const documents: ReadonlySet<string> = new Set(['modules', 'goal', 'asked'])

/** Passwords have no spaces, so none looks sealed. */
const SEALED = 'sealed '

/**
 * Seals secrets of databases when written and opens them when read, transparently. Unsealed values are read
 * unchanged until sealAll seals them. Reading throws if a secret does not open.
 */
export function sealedColumns(box: SecretBox): KyselyPlugin {
  const seal = (column: string, value: unknown) => {
    if (typeof value !== 'string') return value
    if (passwords.has(column)) return SEALED + box.seal(value, column)
    return documents.has(column) ? sealArgs(value, box) : value
  }
  return {
    transformQuery: ({ node }) => sealNode(node, seal),
    async transformResult({ result }) {
      return { ...result, rows: result.rows.map((row) => openRow(row, box)) }
    },
  }
}

type Seal = (column: string, value: unknown) => unknown

function sealNode(node: RootOperationNode, seal: Seal): RootOperationNode {
  if (node.kind === 'InsertQueryNode' && node.values !== undefined) {
    const columns = (node.columns ?? []).map(({ column }) => column.name)
    return { ...node, values: sealValues(node.values, columns, seal) }
  }
  if (node.kind === 'UpdateQueryNode' && node.updates !== undefined)
    return {
      ...node,
      updates: node.updates.map((update) => ({
        ...update,
        value: sealValue(update.value, nameOf(update.column), seal),
      })),
    }
  return node
}

/** Handles rows of values in column order. Returns other nodes unchanged. */
function sealValues(node: OperationNode, columns: readonly string[], seal: Seal): OperationNode {
  if (node.kind === 'ValuesNode' && 'values' in node)
    return mapValues(node, (row) => sealValues(row as OperationNode, columns, seal))
  if (node.kind === 'PrimitiveValueListNode' && 'values' in node)
    return mapValues(node, (value, n) => seal(columns[n] ?? '', value))
  if (node.kind === 'ValueListNode' && 'values' in node)
    return mapValues(node, (value, n) => sealValue(value as OperationNode, columns[n] ?? '', seal))
  return node
}

function mapValues(node: OperationNode, change: (value: unknown, n: number) => unknown): OperationNode {
  const values = 'values' in node && Array.isArray(node.values) ? node.values.map(change) : []
  return { ...node, values } as OperationNode // same kind and number of values
}

function sealValue(node: OperationNode, column: string, seal: Seal): OperationNode {
  if (node.kind !== 'ValueNode' || !('value' in node)) return node
  return { ...node, value: seal(column, node.value) } as OperationNode // same kind
}

function nameOf(node: OperationNode): string {
  const named = node as { readonly column?: { readonly name?: string } } // a ColumnNode
  return named.column?.name ?? ''
}

function openRow(row: UnknownRow, box: SecretBox): UnknownRow {
  const opened: UnknownRow = {}
  for (const [column, value] of Object.entries(row)) opened[column] = openCell(column, value, box)
  return opened
}

function openCell(column: string, value: unknown, box: SecretBox): unknown {
  if (typeof value !== 'string') return value
  if (passwords.has(column) && value.startsWith(SEALED)) return box.open(value.slice(SEALED.length), column)
  return documents.has(column) && value.includes(`"args":"${SEALED}`) ? openArgs(value, box) : value
}

/** Arguments are a list, or a text once sealed. */
function sealArgs(json: string, box: SecretBox): string {
  if (!json.includes('"args":["')) return json
  return JSON.stringify(JSON.parse(json), (key, value: unknown) =>
    key === 'args' && Array.isArray(value) && value.length > 0
      ? SEALED + box.seal(JSON.stringify(value), 'args')
      : value,
  )
}

function openArgs(json: string, box: SecretBox): string {
  return JSON.stringify(
    JSON.parse(json, (key, value: unknown) =>
      key === 'args' && typeof value === 'string' && value.startsWith(SEALED)
        ? JSON.parse(box.open(value.slice(SEALED.length), 'args'))
        : value,
    ),
  )
}
