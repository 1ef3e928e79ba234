import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type Static, type TSchema, Type } from 'typebox'
import type { Tables } from './tables.ts'

/** A column of the store does not hold the value that was written: the file was changed from outside, or the disk has lost data. */
export class CorruptColumn extends Error {
  override readonly name = 'CorruptColumn'
}

/** Reads the value of one column, in the row of this key. Throws CorruptColumn, which names table, column and row and quotes nothing. */
type ReadColumn<From, To> = (value: From, row: string | number) => To

type ColumnOf<Table extends keyof Tables> = keyof Tables[Table] & string

/** Rows are taken as they are: nothing is coerced, filled in or dropped, and fields that the schema does not name are allowed. */
const ajv = new Ajv({ allErrors: false, coerceTypes: false, useDefaults: false, removeAdditional: false })

/** A column that holds JSON of this schema. */
export function jsonColumn<Table extends keyof Tables, Schema extends TSchema>(
  table: Table,
  column: ColumnOf<Table>,
  schema: Schema,
): ReadColumn<string, Static<Schema>> {
  let check: ValidateFunction<Static<Schema>> | undefined // compiled when it is needed: not at each start of a program
  return (text, row) => {
    const value = parse(text)
    check ??= ajv.compile<Static<Schema>>(schema)
    if (value !== undefined && check(value)) return value
    throw corrupt(table, column, row, value === undefined ? 'is not JSON' : describe(check.errors?.[0]))
  }
}

/** A column that holds one of these words. */
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

/** Any of these words, in JSON. */
export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return Type.Enum([...words] as [Words[number], ...Words[number][]])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // what JSON.parse says quotes the text, and there may be secrets in it
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
