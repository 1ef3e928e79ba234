import { type Operation, operations } from '@fairlead/api'
import type { FastifyInstance } from 'fastify'
import type { Counters } from './counters.ts'

/** Counts answers of the API by the names of their operations; one without an operation counts as `none`. */
export function countAnswers(http: FastifyInstance, { answered }: Pick<Counters, 'answered'>): void {
  const names = new Map<Operation, string>(Object.entries(operations).map(([name, each]) => [each, name]))
  // When it is sent, not when it has been read: for that Fastify would listen for the end of each answer.
  http.addHook('onSend', ({ routeOptions }, { statusCode, elapsedTime }, payload, done) => {
    const { operation } = routeOptions.config
    // Such an answer lasts as long as its client wants it to.
    const isLong = operation?.stream === true || operation?.waits === true
    const name = (operation && names.get(operation)) ?? 'none'
    answered(name, statusCode, isLong ? null : elapsedTime / 1_000)
    done(null, payload)
  })
}
