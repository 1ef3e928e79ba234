import serializers from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { compileValidator } from './compile-validator.ts'

const compileSerializer = serializers()()

/** Compiles once; returns the same result later. */
type Make = () => unknown

/** Compiles the rest this long after the server listens, one at a time. Milliseconds. */
const usual = { afterMs: 10_000, everyMs: 50 }

/**
 * Compiles validators and serializers of operations on first use. Fastify compiles all before it listens,
 * which takes 0.7 s of CPU although most servers use few operations. The rest is compiled later, so that no
 * request does it during a handover.
 */
export function compileWhenUsed(app: FastifyInstance, { afterMs, everyMs } = usual): void {
  const rest: Make[] = []
  app.setValidatorCompiler<object>((route) => validateWhenUsed(route, rest))
  app.setSerializerCompiler<object>((route) => serializeWhenUsed(route, rest))
  let timer: NodeJS.Timeout | undefined
  const makeNext = () => {
    const make = rest.shift()
    if (make === undefined) return
    make()
    timer = setTimeout(makeNext, everyMs).unref()
  }
  app.addHook('onListen', async () => {
    timer = setTimeout(makeNext, afterMs).unref()
  })
  app.addHook('preClose', async () => clearTimeout(timer))
}

/** Like compileValidator, called with the first input. Adds itself to `rest`, to be compiled earlier. */
export function validateWhenUsed(route: Parameters<typeof compileValidator>[0], rest: Make[] = []) {
  const validator = once(() => compileValidator(route))
  rest.push(validator)
  return (value: unknown) => validator()(value)
}

/** Like Fastify's compiler, called with the first answer, or event of a type. Adds itself to `rest`. */
export function serializeWhenUsed(
  route: Parameters<FastifySerializerCompiler<object>>[0],
  rest: Make[] = [],
): (answer: unknown) => string {
  const compile = (schema: object) =>
    once(() => compileSerializer({ httpStatus: 'default', ...route, schema }))
  const whole = compile(route.schema)
  const byType = new Map(typesIn(route.schema).map(([type, schema]) => [type, compile(schema)]))
  rest.push(...(byType.size > 0 ? byType.values() : [whole]))
  return (answer) => (byType.get((answer as Typed | null)?.type) ?? whole)()(answer)
}

interface Typed {
  readonly type?: unknown
}

/**
 * Schemas of a stream's events by type. Compiling all together would block the server for 0.2 s, and lengthen
 * the write stop of a handover.
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
