import { type Operation, operations } from '@fairlead/api'
import type { FastifyInstance } from 'fastify'
import type { Counters } from './counters.ts'

/** Counts answers of the API by operation; others count as `none`. */
export function countAnswers(http: FastifyInstance, { answered }: Pick<Counters, 'answered'>): void {
  const names = new Map<Operation, string>(Object.entries(operations).map(([name, each]) => [each, name]))
  // Counts when an answer is sent, because Fastify would need a listener for the end of each answer.
  http.addHook('onSend', ({ routeOptions }, { statusCode, elapsedTime }, payload, done) => {
    const { operation } = routeOptions.config
    // The client determines the duration of such an answer.
    const isLong = operation?.stream === true || operation?.waits === true
    const name = (operation && names.get(operation)) ?? 'none'
    answered(name, statusCode, isLong ? null : elapsedTime / 1_000)
    done(null, payload)
  })
}
