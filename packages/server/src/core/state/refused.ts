import type { ErrorCode } from '@fairlead/api'

/** The refusal of a request: the reason as a code of the error table, and as a sentence. The shell makes the answer from it. */
export interface Refused {
  readonly refused: ErrorCode
  readonly message: string
  /** The field of the request that the obstacle is about, if it is about one. */
  readonly field?: string
  /** Each obstacle by itself, where there are several. */
  readonly obstacles?: readonly Refused[]
}

/** One refusal for all of these: the code of the first, the sentences of all. Undefined where there are none. */
export function refusedForAll(obstacles: readonly Refused[]): Refused | undefined {
  const [first] = obstacles
  if (first === undefined) return undefined
  return { refused: first.refused, message: obstacles.map(({ message }) => message).join('; '), obstacles }
}
