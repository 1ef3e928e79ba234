import { ENCODINGS, type Encodings } from '@fairlead/api'
import type { EngineConnection } from '@fairlead/engine'
import type { Parameters } from '../../core/carry-over/runtime-settings.ts'
import { ifItAnswers } from '../turn/engines.ts'
import { readParameters } from './read-settings.ts'

/** Reads the limits of compact encodings set at run time, after `baseline`. Undefined if unknown. */
export async function readEncodings(
  connect: () => Promise<EngineConnection>,
  baseline: Parameters | null,
): Promise<Encodings | undefined> {
  if (baseline === null) return undefined
  const parameters = await ifItAnswers(async () => readParameters(await connect()))
  return parameters === null ? undefined : encodingsSet(parameters, baseline)
}

/** Picks them from all parameters of an engine that started with `baseline`. */
export function encodingsSet(parameters: Parameters, baseline: Parameters): Encodings {
  const set = ENCODINGS.flatMap((name) => {
    const value = parameters[name]
    const isSet = value !== undefined && value !== baseline[name]
    return isSet && /^-?\d+$/.test(value) ? [[name, Number(value)]] : []
  })
  return Object.fromEntries(set)
}
