import type { Mutant } from './mutant.ts'
import { mutantsOfAgent } from './mutants-of-agent.ts'
import { mutantsOfCore } from './mutants-of-core.ts'
import { mutantsOfHandover } from './mutants-of-handover.ts'
import { mutantsOfProxy } from './mutants-of-proxy.ts'

/** Every fault that the tests must find. */
export const allMutants: readonly Mutant[] = [
  ...[mutantsOfCore, mutantsOfHandover, mutantsOfProxy, mutantsOfAgent].flat(),
]
