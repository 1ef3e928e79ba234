import type { Self } from '@fairlead/api'
import { createContext, useContext } from 'react'

/** The user that is signed in. */
export const SelfContext = createContext<Self | null>(null)

/** Whether its session has ended: then the pages are hidden. */
export const EndedContext = createContext(false)

/** The user that is signed in; only below the sign-in. */
export function useMe(): Self {
  const self = useContext(SelfContext)
  if (self === null) throw new Error('no user is signed in here')
  return self
}

/** Whether the user's roles give a permission: somewhere, or on this database. The server decides again. */
export function useMay(): (permission: string, databaseUid?: number) => boolean {
  const { permissions, resources } = useMe()
  return (permission, databaseUid) => {
    if (!permissions.includes(permission)) return false
    const limits = resources.filter((resource) => resource.permissions.includes(permission))
    if (databaseUid === undefined || limits.length === 0) return true
    return limits.some(({ uids }) => uids.includes(String(databaseUid)))
  }
}
