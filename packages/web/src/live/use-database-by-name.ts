import { ApiError, type Database } from '@fairlead/api'
import { useQuery } from '@tanstack/react-query'
import { api } from './api.ts'
import { keys } from './keys.ts'
import { useDatabase } from './queries.ts'

/** The database for a number or name in an address; null: none. */
export function useDatabaseByName(name: string): {
  readonly data: Database | null | undefined
  readonly error: Error | null
  readonly refetch: () => void
} {
  const isNumber = /^\d+$/.test(name)
  const found = useQuery({
    queryKey: [...keys.databases, 'named', name],
    queryFn: async () => {
      const rows = await api.listDatabases({ query: { q: name, limit: 1_000, fields: 'uid,name' } })
      return rows.find((row) => row.name.toLowerCase() === name.toLowerCase())?.uid ?? null
    },
    enabled: !isNumber,
  })
  const uid = isNumber ? Number(name) : (found.data ?? null)
  const database = useDatabase(uid)
  const isDeleted = database.error instanceof ApiError && database.error.status === 404
  const isNone = isDeleted || (!isNumber && found.data === null)
  return {
    data: isNone ? null : database.data,
    error: isNone ? null : (found.error ?? database.error),
    refetch: () => void (uid === null ? found.refetch() : database.refetch()),
  }
}
