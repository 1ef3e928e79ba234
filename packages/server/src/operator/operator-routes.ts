import { randomBytes } from 'node:crypto'
import { operatorOperations } from '@fairlead/api'
import type { Audit } from '../audit/audit-service.ts'
import { operator } from '../core/identity/audit-record.ts'
import type { Mount } from '../http/mount.ts'
import type { Passwords } from '../passwords/passwords-service.ts'
import type { SigningKeys } from '../sessions/signing-keys.ts'

/** What the operator of the machine may do, through the socket in FAIRLEAD_HOME. */
export function operatorRoutes(
  mount: Mount,
  {
    audit,
    passwords,
    keys,
  }: { readonly audit: Audit; readonly passwords: Passwords; readonly keys: SigningKeys },
): void {
  mount(operatorOperations.verifyAudit, async ({ body }) => {
    const { fault, signedAt, ...seen } = await audit.verify(body.head)
    return {
      ...seen,
      ...(signedAt !== undefined && { signed_time: signedAt }),
      ...(fault !== undefined && { fault }),
    }
  })

  mount(operatorOperations.listSigningKeys, async () => ({ keys: listKeys(keys) }))

  mount(operatorOperations.rotateSigningKeys, async ({ body }) => {
    await keys.rotate(operator, body.drop_all)
    return { keys: listKeys(keys) }
  })

  mount(operatorOperations.resetPassword, async ({ body }) => {
    const password = randomBytes(18).toString('base64url')
    await passwords.reset(body.username, password, operator)
    return { password }
  })
}

function listKeys(keys: SigningKeys) {
  return keys.list().map(({ kid, stage, createdAt }) => ({ kid, state: stage, created_time: createdAt }))
}
