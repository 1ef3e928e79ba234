import type { Client, operations } from '@fairlead/api'

/**
 * An API that creates a database without a replica and without files, unless the request has them, or begins
 * with a backup.
 */
export function creatingSmallest(api: Client<typeof operations>): Client<typeof operations> {
  const smallest = { replication: false, data_persistence: 'disabled' } as const
  const createDatabase: typeof api.createDatabase = Object.assign(
    (input: Parameters<typeof api.createDatabase>[0]) =>
      api.createDatabase({
        ...input,
        body: { ...(input.body.from_backup === undefined && smallest), ...input.body },
      }),
    api.createDatabase,
  )
  return { ...api, createDatabase }
}
