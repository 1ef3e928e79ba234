import serializers from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { compileValidator } from './compile-validator.ts'

const compileSerializer = serializers()()

/**
 * The code that checks the input of an operation, and the code that writes its answer, are made when the operation is first asked for. Fastify makes all
 * of them before it listens: 0.7 s of a processor for an API of which most servers are asked a few operations (decision 61).
 */
export function compileWhenUsed(app: FastifyInstance): void {
  app.setValidatorCompiler(validateWhenUsed)
  app.setSerializerCompiler(serializeWhenUsed)
}

/** As compileValidator, which it calls when there is the first input. */
export function validateWhenUsed(route: Parameters<typeof compileValidator>[0]) {
  const validator = once(() => compileValidator(route))
  return (value: unknown) => validator()(value)
}

/** As Fastify's own, which it calls when there is the first answer; of events, the first of a type. */
export const serializeWhenUsed: FastifySerializerCompiler<object> = (route) => {
  const compile = (schema: object) =>
    once(() => compileSerializer({ httpStatus: 'default', ...route, schema }))
  const whole = compile(route.schema)
  const byType = new Map(typesIn(route.schema).map(([type, schema]) => [type, compile(schema)]))
  return (answer) => (byType.get((answer as Typed | null)?.type) ?? whole)()(answer)
}

interface Typed {
  readonly type?: unknown
}

/**
 * The schemas of the events of a stream, by their type. The code of all together takes 0.2 s in one piece, in which the server does nothing else: an
 * upgrade that hands over would stop writes for so long.
 */
function typesIn({
  anyOf = [],
}: {
  readonly anyOf?: readonly Variant[]
}): readonly (readonly [unknown, Variant])[] {
  const typed = anyOf.map((one) => [one.properties?.type?.const, one] as const)
  return new Set(typed.map(([type]) => type)).size === typed.length ? typed : []
}

interface Variant {
  readonly properties?: { readonly type?: { readonly const?: unknown } }
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
