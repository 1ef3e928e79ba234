import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type Static, type TSchema, Type } from 'typebox'
import type { Tables } from './tables.ts'

/** A column has changed since it was written: from outside, or by a fault of the disk. */
export class CorruptColumn extends Error {
  override readonly name = 'CorruptColumn'
}

/** Reads one column of the row with this key. Throws CorruptColumn with its place, without values. */
type ReadColumn<From, To> = (value: From, row: string | number) => To

type ColumnOf<Table extends keyof Tables> = keyof Tables[Table] & string

/** Rows are not converted: unknown fields are allowed, and nothing is coerced, added or removed. */
const ajv = new Ajv({ allErrors: false, coerceTypes: false, useDefaults: false, removeAdditional: false })

/** A column with JSON of this schema. */
export function jsonColumn<Table extends keyof Tables, Schema extends TSchema>(
  table: Table,
  column: ColumnOf<Table>,
  schema: Schema,
): ReadColumn<string, Static<Schema>> {
  let check: ValidateFunction<Static<Schema>> | undefined // compiled on demand, not at each start
  return (text, row) => {
    const value = parse(text)
    check ??= ajv.compile<Static<Schema>>(schema)
    if (value !== undefined && check(value)) return value
    throw corrupt(table, column, row, value === undefined ? 'is not JSON' : describe(check.errors?.[0]))
  }
}

/** A column with one of these words. */
export function wordColumn<Table extends keyof Tables, Word extends string>(
  table: Table,
  column: ColumnOf<Table>,
  words: readonly Word[],
): ReadColumn<string, Word> {
  const known = new Map<string, Word>(words.map((word) => [word, word]))
  return (value, row) => {
    const word = known.get(value)
    if (word !== undefined) return word
    throw corrupt(table, column, row, `is none of ${words.map((each) => `"${each}"`).join(', ')}`)
  }
}

/** One of these words, in JSON. */
export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return Type.Enum([...words] as [Words[number], ...Words[number][]])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // an error of JSON.parse quotes the text, which may be secret
  }
}

function corrupt(table: string, column: string, row: string | number, what: string): CorruptColumn {
  return new CorruptColumn(
    `the store is damaged: in table ${table}, row ${row}, column ${column} ${what}; it was changed from outside, or the disk lost it`,
  )
}

function describe(fault: ErrorObject | undefined): string {
  const where = fault?.instancePath ? ` at ${fault.instancePath}` : ''
  return `does not hold what was written there:${where} ${fault?.message ?? 'is not valid'}`
}
