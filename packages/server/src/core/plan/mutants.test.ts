import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { mutate } from '../../../test/mutants/mutant.ts'
import { mutantsOfCore } from '../../../test/mutants/mutants-of-core.ts'
import { mutantsOfHandover } from '../../../test/mutants/mutants-of-handover.ts'

const mutants = [...mutantsOfCore, ...mutantsOfHandover]
const sourceOf = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')

test.each(mutants)(
  'the fault "$name" can be put into the source, and its tests are there',
  async (mutant) => {
    expect(mutate(await sourceOf(mutant.file), mutant)).toContain(mutant.instead)
    for (const file of mutant.tests) await sourceOf(file)
  },
)

test('there are more than twenty faults that tests must find, each with a name of its own', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  expect(mutants.length).toBeGreaterThan(20)
})
