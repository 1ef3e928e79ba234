import serializers from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { compileValidator } from './compile-validator.ts'

const compileSerializer = serializers()()

/** Makes the code of an operation; again, it answers what it has made. */
type Make = () => unknown

/** When what was not asked for is made: so long after the server listens, a piece at a time. Milliseconds. */
const usual = { afterMs: 10_000, everyMs: 50 }

/**
 * The code that checks the input of an operation, and the code that writes its answer, are made when the
 * operation is first asked for. Fastify makes all of them before it listens: 0.7 s of a processor for an API
 * of which most servers are asked a few operations. The rest is made later, so that no request does it while
 * an upgrade hands over.
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

/** As compileValidator, which it calls when there is the first input. What can be made before is added to `rest`. */
export function validateWhenUsed(route: Parameters<typeof compileValidator>[0], rest: Make[] = []) {
  const validator = once(() => compileValidator(route))
  rest.push(validator)
  return (value: unknown) => validator()(value)
}

/** As Fastify's own, which it calls when there is the first answer; of events, the first of a type. What can be made before is added to `rest`. */
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
