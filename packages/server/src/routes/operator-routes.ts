import { randomBytes } from 'node:crypto'
import { operatorOperations, Refusal } from '@fairlead/api'
import { operatorPrincipal } from '../core/identity/access.ts'
import { operator } from '../core/identity/audit-record.ts'
import type { Mount } from '../http/mount.ts'
import type { Audit } from '../identity/audit/audit-service.ts'
import type { Cluster } from '../identity/cluster/cluster-service.ts'
import type { Passwords } from '../identity/passwords/passwords-service.ts'
import type { SigningKeys } from '../identity/sessions/signing-keys.ts'
import type { Tokens } from '../identity/sessions/tokens.ts'

/** The URL of the API, or why it is not served yet. */
export type Served = { readonly url: string } | { readonly notYet: string }

/** `now` is Unix milliseconds. */
interface OperatorParts {
  readonly audit: Audit
  readonly passwords: Passwords
  readonly keys: SigningKeys
  readonly tokens: Tokens
  readonly cluster: Pick<Cluster, 'settings'>
  readonly now: () => number
  readonly served: () => Served
}

/** Lifetime of a token. Longer commands request new ones. */
const OPERATOR_TTL_SECONDS = 300

/** Serves the operator's operations, through the socket in FAIRLEAD_HOME. */
export function operatorRoutes(
  mount: Mount,
  { audit, passwords, keys, tokens, cluster, now, served }: OperatorParts,
): void {
  mount(operatorOperations.verifyAudit, async ({ body }) => {
    const { fault, ...seen } = await audit.verify(body.head)
    return { ...seen, ...(fault !== undefined && { fault }) }
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

  mount(operatorOperations.authorizeOperator, async () => {
    const place = served()
    if ('notYet' in place) throw new Refusal('unavailable', place.notYet)
    // A user of the operator's name, made now, could prevent the creation.
    if ((await cluster.settings()).createdAt === null)
      throw new Refusal(
        'unavailable',
        'the cluster has not been created yet: send POST /v1/bootstrap/create_cluster first',
      )
    const subject = { uid: operatorPrincipal.uid, tokenEpoch: 0 }
    return {
      access_token: await tokens.issue(subject, OPERATOR_TTL_SECONDS, now()),
      ttl: OPERATOR_TTL_SECONDS,
      url: place.url,
    }
  })
}

function listKeys(keys: SigningKeys) {
  return keys.list().map(({ kid, stage, createdAt }) => ({ kid, state: stage, created_time: createdAt }))
}
