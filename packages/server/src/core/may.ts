import { type Permission, permissions, type Role } from '@fairlead/api'

/** Says whether a user of this role may do this. An unknown role may do nothing. */
export function may(role: string, permission: Permission): boolean {
  const holders: readonly Role[] = permissions[permission]
  return holders.some((holder) => holder === role)
}
