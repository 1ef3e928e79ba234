import type { Client, operations } from '@fairlead/api'

/** An API that creates a database without a replica and without files, unless the request has them. */
export function creatingSmallest(api: Client<typeof operations>): Client<typeof operations> {
  const smallest = { replication: false, data_persistence: 'disabled' } as const
  const createDatabase: typeof api.createDatabase = Object.assign(
    (input: Parameters<typeof api.createDatabase>[0]) =>
      api.createDatabase({ ...input, body: { ...smallest, ...input.body } }),
    api.createDatabase,
  )
  return { ...api, createDatabase }
}
