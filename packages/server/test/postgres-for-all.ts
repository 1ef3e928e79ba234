import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

/** One PostgreSQL for the tests of a project: each has databases of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres()
  project.provide('postgres', await postgres.makeDatabase())
  return async () => postgres[Symbol.asyncDispose]()
}
