import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { allMutants } from '../mutants/all-mutants.ts'
import { mutate } from '../mutants/mutant.ts'
import { mustSee, rule } from './rule.ts'
import { read, root } from './tree.ts'

/** The faults of `npm run mutants`. */
export const mutants = [
  rule('each fault can still be put into the source', () =>
    allMutants.flatMap((mutant) => {
      try {
        mutate(read(mutant.file), mutant)
        return []
      } catch (error) {
        return [String(error)]
      }
    }),
  ),

  rule('each fault is found by unit or component tests, which are there', () =>
    allMutants.flatMap(({ name, tests }) =>
      tests
        .filter((file) => !file.startsWith('packages/') || !existsSync(join(root, file)))
        .map((file) => `${name}: ${file}`),
    ),
  ),

  rule('there are more than twenty faults, each with a name of its own', () => {
    mustSee(allMutants.length, 21)
    return allMutants.map(({ name }) => name).filter((name, at, names) => names.indexOf(name) !== at)
  }),
]
