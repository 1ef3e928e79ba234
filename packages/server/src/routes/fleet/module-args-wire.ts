import { Refusal } from '@fairlead/api'
import { splitArgs } from '../../core/modules/module-args.ts'

/** Splits a string like the engines do; keeps a list. Throws Refusal invalid_request. */
export function argsFromWire(args: string | readonly string[], field: string): readonly string[] {
  if (typeof args !== 'string') return args
  const words = splitArgs(args)
  if (words === null) throw new Refusal('invalid_request', `${field}: a quote is not closed`)
  return words
}
