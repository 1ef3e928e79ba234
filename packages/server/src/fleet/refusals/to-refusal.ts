import { Refusal, type RequestObstacle } from '@fairlead/api'
import type { Refused } from '../../core/state/refused.ts'

/** The API error of a refusal. */
export function toRefusal(refused: Refused): Refusal {
  const { obstacles = [refused] } = refused
  return new Refusal(refused.refused, refused.message, { obstacles: obstacles.map(toObstacle) })
}

/** One obstacle of an API error. */
export function toObstacle({ refused: code, message, field }: Refused): RequestObstacle {
  return { code, message, field }
}
