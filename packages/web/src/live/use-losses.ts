import { type LogEntry, lossWords } from '@fairlead/api'
import { useQuery } from '@tanstack/react-query'
import { api } from './api.ts'
import { keys } from './keys.ts'
import { useMay } from './permissions.ts'

/** A loss is among recent events for this long. */
const NEWS_MS = 30 * 24 * 3_600_000
const MOST = 20

/**
 * Records of possible losses, the newest first; undefined: not known yet. `uid`: of one database. Empty
 * without the permission.
 */
export function useLosses(uid?: number): readonly LogEntry[] | undefined {
  const isAllowed = useMay()('view_logged_events')
  const { data, error } = useQuery({
    queryKey: [...keys.logs, 'losses', uid],
    queryFn: async () => {
      const stime = new Date(Date.now() - NEWS_MS).toISOString()
      const about = { order: 'desc', limit: MOST, stime, ...(uid !== undefined && { bdb_uid: uid }) } as const
      const answers = await Promise.all(
        Object.keys(lossWords).map((type) => api.listLogs({ query: { ...about, type } })),
      )
      return answers.flat().toSorted((a, b) => b.uid - a.uid)
    },
    enabled: isAllowed,
  })
  return data ?? (isAllowed && error === null ? undefined : [])
}

/** Possible losses that no user has seen; undefined: not known yet. Empty without the permission. */
export function useUnseenLosses(): readonly LogEntry[] | undefined {
  const isAllowed = useMay()('view_logged_events')
  const { data, error } = useQuery({
    queryKey: [...keys.logs, 'unseen losses'],
    queryFn: () => api.listLosses({}),
    enabled: isAllowed,
  })
  return data ?? (isAllowed && error === null ? undefined : [])
}
