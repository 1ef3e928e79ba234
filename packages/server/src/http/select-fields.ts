import type { Operation } from '@fairlead/api'
import type { FastifyReply } from 'fastify'

/** The needed part of a JSON schema. */
interface Schema {
  readonly items?: object
  readonly properties?: Readonly<Record<string, Schema>>
}

/**
 * Returns the answer, or its list's entries, with only the comma-separated `fields` of the query; default:
 * all. Ignores unknown fields, which the wider API's programs name. The reply then accepts answers without
 * required fields.
 */
export function selectFields(op: Operation, query: unknown, answer: unknown, reply: FastifyReply): unknown {
  const { fields = '' } = query as { readonly fields?: string }
  if (fields === '') return answer
  const names = new Set(fields.split(',').map((name) => name.trim()))
  names.delete('')
  if (names.size === 0) return answer
  void reply.serializer(reply.compileSerializationSchema(withoutRequired(op)))
  if (typeof op.selects !== 'string') return pickOf(answer, names)
  const around = answer as Readonly<Record<string, unknown>>
  return { ...around, [op.selects]: pickOf(around[op.selects], names) }
}

function pickOf(answer: unknown, names: ReadonlySet<string>): unknown {
  return Array.isArray(answer)
    ? answer.map((one) => pick(one as object, names))
    : pick(answer as object, names)
}

function pick(answer: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => names.has(name)))
}

/** Compiled schemas are cached by object, so each operation has one. */
const partial = new WeakMap<Operation, object>()

function withoutRequired(op: Operation): Record<string, unknown> {
  const known = partial.get(op)
  if (known !== undefined) return known as Record<string, unknown>
  const schema = typeof op.selects === 'string' ? around(op.ok, op.selects) : optional(op.ok)
  partial.set(op, schema)
  return schema as Record<string, unknown>
}

function around(ok: Schema, list: string): object {
  return { ...ok, properties: { ...ok.properties, [list]: optional(ok.properties?.[list] ?? {}) } }
}

function optional(schema: Schema): object {
  const { items } = schema
  return items === undefined ? { ...schema, required: [] } : { ...schema, items: { ...items, required: [] } }
}
