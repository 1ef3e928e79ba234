import { type TSchema, Type } from 'typebox'
import {
  answeredDatabaseFields,
  type NeutralField,
  neutralPolicies,
  neutralSettings,
} from './neutral-fields.ts'

/** Secrets, fields of requests only, and fields with a separate form in answers. */
const notAnswered: readonly string[] = [
  'authentication_admin_pass',
  'authentication_sasl_pass',
  'dataset_import_sources',
  'backup_location',
  // Typed programs expect them only if present.
  'tags',
  'account_id',
  'crdt',
  'crdt_guid',
]

/** The first pattern matches the part in braces. */
const otherDefaults: Readonly<Record<string, unknown>> = {
  shard_key_regex: answeredDatabaseFields.find(({ name }) => name === 'shard_key_regex')?.taken.at(-1),
  backup_interval: 86_400,
}

/** Fields of answers only. */
const onlyAnswered: Readonly<Record<string, unknown>> = {
  backup_status: '',
  backup_progress: 0,
  export_status: '',
  export_progress: 0,
  import_status: '',
  import_progress: 0,
  bigstore_version: 1,
  crdt_modules: '[]',
}

/**
 * Fields of the wider API with one constant value for all databases, so that a program that compares sent and
 * received fields finds no difference.
 */
export const fixedDatabaseFields: Readonly<Record<string, unknown>> = Object.freeze({
  ...Object.fromEntries(
    answeredDatabaseFields
      .filter(({ name }) => !notAnswered.includes(name))
      .map(({ name, taken }) => [name, otherDefaults[name] ?? taken[0]]),
  ),
  ...onlyAnswered,
})

/** The same for settings of the cluster. */
export const fixedSettings = firstValues(neutralSettings)
/** The same for the policy of the cluster. */
export const fixedPolicies = firstValues(neutralPolicies)

/** The schemas of such fields, hidden from the compiler: code never uses these fields one by one. */
export function schemasOf(fixed: Readonly<Record<string, unknown>>): Readonly<Record<never, TSchema>> {
  return Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, schemaOf(value)]))
}

function firstValues(fields: readonly NeutralField[]): Readonly<Record<string, unknown>> {
  return Object.freeze(Object.fromEntries(fields.map(({ name, taken }) => [name, taken[0]])))
}

function schemaOf(value: unknown): TSchema {
  if (Array.isArray(value))
    return Type.Array(value.length === 0 ? Type.Never() : Type.Object({ regex: Type.String() }))
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return Type.Literal(value)
  throw new Error(`no schema for ${JSON.stringify(value)}`)
}
