import type { Acl, Database, Role } from '@fairlead/api'
import { ApiError } from '@fairlead/api/lean'
import type { Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { isForPeople } from '../../output/forms.ts'
import type { Column } from '../../output/print-answer.ts'
import { detailColumns } from '../describe-database.ts'
import { pickAcl } from './acls.ts'
import { pickRole } from './roles.ts'

type Grant = Database['roles_permissions'][number]

/** Options that say whose users sign in to a database. */
export interface GrantOptions {
  /** "ROLE=ACL". */
  readonly grant: readonly string[]
  readonly revoke?: readonly string[]
}

/** The roles that a database lets in after a change. */
export interface GrantChange {
  /** For the request; empty without a change. */
  readonly fields: { readonly roles_permissions?: Grant[] }
  /** A sentence for each change. */
  readonly about: readonly string[]
}

/** Adds and takes out roles by name or uid. Throws CommandFault for one that is named twice or unknown. */
export async function changeGrants(
  { api }: Link,
  before: readonly Grant[] = [], // absent at a server of an earlier version
  { grant, revoke = [] }: GrantOptions,
): Promise<GrantChange> {
  if (grant.length + revoke.length === 0) return { fields: {}, about: [] }
  const given = grant.map(readGrant)
  const roles = await api.listRoles({ query: {} })
  const rules = given.length === 0 ? [] : await api.listEngineAcls({})
  const wanted = new Map(before.map((one) => [one.role_uid, one]))
  const named = new Set<number>()
  const name = (word: string) => {
    const role = pickRole(roles, word)
    if (named.has(role.uid))
      throw new CommandFault('usage', `role ${role.name} is named twice; nothing was sent`)
    named.add(role.uid)
    return role
  }
  const granted = given.map(([word, ruleWord]) => {
    const [role, rule] = [name(word), pickAcl(rules, ruleWord)]
    wanted.set(role.uid, { role_uid: role.uid, redis_acl_uid: rule.uid })
    return `Users of role ${role.name} sign in under rule ${rule.name}.`
  })
  const revoked = revoke.map((word) => {
    const role = name(word)
    if (!wanted.delete(role.uid))
      throw new CommandFault('not_found', `the database does not let in role ${role.name}; nothing was sent`)
    return `Users of role ${role.name} are closed, and sign in no more.`
  })
  return { fields: { roles_permissions: [...wanted.values()] }, about: [...granted, ...revoked] }
}

/** "Shop=Orders only": names have no =. */
function readGrant(text: string): readonly [role: string, rule: string] {
  const [, role, rule] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  if (role !== undefined && rule !== undefined) return [role, rule]
  throw new CommandFault('usage', `--grant: ${text} is no role and rule; write it like ROLE=ACL`)
}

/** Columns of a single database, with names of the roles that it lets in and of their rules. */
export async function columnsWithRoles(
  { answer }: Context,
  { api }: Link,
  ...rows: readonly Database[]
): Promise<readonly Column<Database>[]> {
  const isNamed = isForPeople(answer.form) && rows.some((row) => grantsOf(row).length > 0)
  const [roles, rules] = isNamed
    ? await Promise.all([
        api.listRoles({ query: {} }).catch(noneIfForbidden<Role>),
        api.listEngineAcls({}).catch(noneIfForbidden<Acl>),
      ])
    : [[], []]
  const nameIn = (all: readonly { readonly uid: number; readonly name: string }[], wanted: number) =>
    all.find(({ uid }) => uid === wanted)?.name ?? String(wanted)
  const grantShown = ({ role_uid, redis_acl_uid }: Grant) =>
    `${nameIn(roles, role_uid)}=${nameIn(rules, redis_acl_uid)}`
  return [
    ...detailColumns,
    { name: 'default_user', value: ({ default_user }) => default_user },
    { name: 'roles', value: (row) => grantsOf(row).map(grantShown).join(', ') },
  ]
}

/** Empty of a server of an earlier version. */
function grantsOf({ roles_permissions: grants = [] }: Database): readonly Grant[] {
  return grants
}

function noneIfForbidden<Row>(cause: unknown): Row[] {
  if (cause instanceof ApiError && cause.status === 403) return []
  throw cause
}
