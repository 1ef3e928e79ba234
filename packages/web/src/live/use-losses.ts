import type { LogEntry } from '@fairlead/api'
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { lossTypes } from '../words/describe-loss.ts'
import { api } from './api.ts'
import { keys } from './keys.ts'
import { useMay } from './permissions.ts'

/** A loss is news for this long, where no person has seen it. */
const NEWS_MS = 30 * 24 * 3_600_000
const MOST = 20
const PLACE = 'fairlead-seen-records'
const listeners = new Set<() => void>()

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
      const answers = await Promise.all(lossTypes.map((type) => api.listLogs({ query: { ...about, type } })))
      return answers.flat().toSorted((a, b) => b.uid - a.uid)
    },
    enabled: isAllowed,
  })
  return data ?? (isAllowed && error === null ? undefined : [])
}

/** The uids of records that were seen in this browser, and a function to add one. */
export function useSeenRecords(): readonly [ReadonlySet<number>, (uid: number) => void] {
  const stored = useSyncExternalStore(listen, () => localStorage.getItem(PLACE) ?? '')
  const seen = stored.split(' ').filter(Boolean).map(Number)
  const add = (uid: number) => {
    localStorage.setItem(PLACE, [...seen, uid].slice(-MOST * lossTypes.length).join(' '))
    for (const each of listeners) each()
  }
  return [new Set(seen), add]
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}
