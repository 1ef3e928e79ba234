/**
 * The map of `npm run check`: rules about the whole repository that no linter knows. Prints each rule that
 * does not hold with what breaks it, and ends with 1.
 */
import { agent, packages, server } from './architecture.ts'
import { citations } from './citations.ts'
import { decisions } from './decisions.ts'
import { documented } from './exports.ts'
import { everyFile } from './files.ts'
import { functions } from './functions.ts'
import { mutants } from './mutants.ts'
import { pagesOfRepository } from './pages.ts'
import { rooms } from './rooms.ts'
import type { Rule } from './rule.ts'
import { seeds } from './seeds.ts'
import { sentences } from './sentences.ts'
import { testingPage } from './testing-page.ts'
import { ofTests } from './tests.ts'
import { everyText } from './texts.ts'

const rules: readonly Rule[] = [
  ...[functions, packages, server, agent, rooms, everyFile, everyText, ofTests, mutants],
  ...[sentences, documented, citations, pagesOfRepository, decisions, seeds, testingPage],
].flat()

async function breaches({ find }: Rule): Promise<readonly string[]> {
  try {
    return await find()
  } catch (error) {
    return [`the rule could not be applied: ${error instanceof Error ? error.message : String(error)}`]
  }
}

let broken = 0
for (const [{ name }, found] of await Promise.all(
  rules.map(async (rule) => [rule, await breaches(rule)] as const),
)) {
  if (found.length === 0) continue
  broken += 1
  console.error(`${name}\n${found.map((one) => `  ${one}`).join('\n')}`)
}
console.error(`${rules.length - broken} of ${rules.length} rules hold`)
process.exitCode = broken === 0 ? 0 : 1
