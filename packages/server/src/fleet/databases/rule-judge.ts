import { Refusal } from '@fairlead/api'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import { type AclRules, readRules } from '../../core/users/acl-rules.ts'
import { builtInAcls, effectiveRule, whyUnsayable, wordsOf } from '../../core/users/database-users.ts'
import type { AclRecords } from '../../identity/roles/acls-service.ts'
import type { Roles } from '../../identity/roles/roles-service.ts'
import type { Databases, DatabaseView } from './databases-service.ts'

/** Judges rules for users of databases, before they are recorded. All methods throw Refusal. */
export type RuleJudge = ReturnType<typeof createRuleJudge>

/** Databases whose engines are asked about a rule that none uses yet. */
const MOST_ASKED = 50

/** `judgeRules` asks an engine, and returns its refusal. */
export function createRuleJudge(deps: {
  readonly acls: AclRecords
  readonly roles: Pick<Roles, 'get'>
  readonly databases: Pick<Databases, 'list' | 'get'>
  readonly judgeRules: (
    database: Database,
    shard: ShardRecord,
    words: readonly string[],
  ) => Promise<string | undefined>
}) {
  const { acls, roles, databases, judgeRules } = deps

  /** Asks one shard of each build. */
  const whyNot = async ({ database, shards }: DatabaseView, text: string, rules: AclRules) => {
    for (const shard of distinctBuilds(shards)) {
      const { build } = shard.runs
      const why =
        whyUnsayable(rules, build) ??
        (await judgeRules(database, shard, wordsOf([text], build, database.cluster)))
      if (why !== undefined)
        return `the engine of ${database.name} (${build.flavour} ${build.version}): ${why}`
    }
    return undefined
  }
  return {
    /** Judges a rule for every database that uses it; a new rule has to fit one of the databases, if any. */
    async judge(text: string, aclUid: number | undefined): Promise<void> {
      const rules = parse(text)
      const bound = aclUid === undefined ? [] : await acls.bindings(aclUid)
      for (const { databaseUid } of bound) {
        const why = await whyNot(await databases.get(databaseUid), text, rules)
        if (why !== undefined) throw new Refusal('invalid_acl', `acl: ${why}`)
      }
      if (bound.length > 0) return
      let refusal: string | undefined
      for (const view of await databases.list({ only: null, limit: MOST_ASKED })) {
        const why = await whyNot(view, text, rules)
        if (why === undefined && view.shards.length > 0) return
        refusal ??= why
      }
      if (refusal !== undefined) throw new Refusal('invalid_acl', `acl: ${refusal}`)
    },

    /** Checks that the roles and rules exist, and that the engines of the database understand the rules. */
    async judgeBindings(
      permissions: Database['rolesPermissions'],
      view: DatabaseView | undefined,
    ): Promise<void> {
      for (const { roleUid, aclUid } of permissions) {
        await roles.get(roleUid)
        const acl = await acls.get(aclUid)
        const text = effectiveRule(acl)
        const why = aclUid > builtInAcls.length && view && (await whyNot(view, text, parse(text)))
        if (why) throw new Refusal('invalid_acl', `roles_permissions: rule ${aclUid} (${acl.name}): ${why}`)
      }
    },
  }
}

function parse(text: string): AclRules {
  const rules = readRules(text)
  if ('fault' in rules) throw new Refusal('invalid_acl', `acl: ${rules.fault}`)
  return rules
}

function distinctBuilds(shards: readonly ShardRecord[]): readonly ShardRecord[] {
  const nameOf = ({ runs }: ShardRecord) => JSON.stringify(runs)
  return [...new Map(shards.map((shard) => [nameOf(shard), shard])).values()]
}
