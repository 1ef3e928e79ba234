import { type Operation, operations } from '@fairlead/api'
import type { Counters } from './counters.ts'

/** Counts answers of the API by the names of their operations; one without an operation counts as `none`. */
export function countAnswers({ answered }: Pick<Counters, 'answered'>) {
  const names = new Map<Operation, string>(Object.entries(operations).map(([name, each]) => [each, name]))
  return (operation: Operation | undefined, status: number, milliseconds: number): void => {
    const name = (operation && names.get(operation)) ?? 'none'
    // Such an answer lasts as long as its client wants it to.
    const isLong = operation?.stream === true || operation?.waits === true
    answered(name, status, isLong ? null : milliseconds / 1_000)
  }
}
