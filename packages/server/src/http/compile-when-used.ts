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

/** As Fastify's own, which it calls when there is the first answer. */
export const serializeWhenUsed: FastifySerializerCompiler<object> = (route) => {
  const serializer = once(() => compileSerializer({ httpStatus: 'default', ...route }))
  return (answer) => serializer()(answer)
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
