import type { ErrorCode } from '@fairlead/api'

/** Refusal of a request: a code of the error table, and a sentence. The shell makes the answer from it. */
export interface Refused {
  readonly refused: ErrorCode
  readonly message: string
  /** The affected field of the request, if any. */
  readonly field?: string
  /** Each obstacle separately, if there are several. */
  readonly obstacles?: readonly Refused[]
}

/** Combines refusals: the code of the first, the sentences of all. Undefined without any. */
export function refusedForAll(obstacles: readonly Refused[]): Refused | undefined {
  const [first] = obstacles
  if (first === undefined) return undefined
  return { refused: first.refused, message: obstacles.map(({ message }) => message).join('; '), obstacles }
}
