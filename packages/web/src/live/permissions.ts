import type { Self } from '@fairlead/api'
import { createContext, useContext } from 'react'

/** The signed-in user. */
export const SelfContext = createContext<Self | null>(null)

/** True when the session has ended: pages are hidden. */
export const EndedContext = createContext(false)

/** The signed-in user; only below the sign-in. */
export function useMe(): Self {
  const self = useContext(SelfContext)
  if (self === null) throw new Error('no user is signed in here')
  return self
}

/** Returns whether the user's roles grant a permission: anywhere, or on this database. The server decides. */
export function useMay(): (permission: string, databaseUid?: number) => boolean {
  const { permissions, resources } = useMe()
  return (permission, databaseUid) => {
    if (!permissions.includes(permission)) return false
    const limits = resources.filter((resource) => resource.permissions.includes(permission))
    if (databaseUid === undefined || limits.length === 0) return true
    return limits.some(({ uids }) => uids.includes(String(databaseUid)))
  }
}
