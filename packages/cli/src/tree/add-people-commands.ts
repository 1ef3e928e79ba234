import { type Command, Option } from 'commander'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand, collect, groupOf, needing } from './client-command.ts'

const users = () => import('../commands/people/users.ts')
const roles = () => import('../commands/people/roles.ts')
const acls = () => import('../commands/people/acls.ts')
const WHO = 'name, e-mail or uid'
const WHICH = 'name or uid'
const BY_NAME = 'do not ask; with the name again: --yes=NAME'

/** Adds `users …`, `roles …` and `acls …`, which use the API. */
export function addPeopleCommands(program: Command, settings: Settings): void {
  const group = groupOf(program, 'users', 'the users')
  addClientCommand(group, 'list', 'list the users').action(
    acting(settings, async () => (await users()).listUsers),
  )
  addUserChanges(group, settings)
  addPasswords(group, settings)
  addRoles(groupOf(program, 'roles', 'the roles, which hold the rights of users'), settings)
  addAcls(groupOf(program, 'acls', 'the rules that users of databases sign in under'), settings)
}

function addUserChanges(group: Command, settings: Settings): void {
  const role = ['--role <role>', `a role, by ${WHICH}; may be repeated`, collect, []] as const
  withPassword(addClientCommand(group, 'create', 'create a user'))
    .argument('<name>', 'name, or e-mail')
    .option('--email <email>', 'signs in as well as the name')
    .option(...role)
    .option('--yes [profile]', 'of a protected profile: its name, to be not asked')
    .action(acting(settings, async () => (await users()).createUser))
  addClientCommand(group, 'update', 'change a user; other roles, and --disable, end its tokens')
    .argument('<user>', WHO)
    .option('--name <name>', 'another name')
    .option('--email <email>', 'another e-mail')
    .option(role[0], 'instead of its roles; may be repeated', role[2], role[3])
    .option('--disable', 'sign it out, and keep it out')
    .option('--enable', 'let it in again')
    .option('--yes [profile]', 'do not ask')
    .action(acting(settings, async () => (await users()).updateUser))
  addClientCommand(group, 'delete', 'delete a user')
    .argument('<user>', WHO)
    .option('--yes [name]', BY_NAME)
    .action(acting(settings, async () => (await users()).deleteUser))
}

function addPasswords(group: Command, settings: Settings): void {
  withPassword(
    addClientCommand(
      group,
      'set-password',
      'replace all passwords of a user by one, which signs it out everywhere',
    ),
  )
    .argument('[user]', `${WHO}; otherwise yourself`)
    .option('--old-password-file <file>', 'the present password is the first line of a file')
    .option('--yes [profile]', 'of a protected profile: its name, to be not asked')
    .action(acting(settings, async () => (await users()).setPassword))
}

function addRoles(group: Command, settings: Settings): void {
  addClientCommand(group, 'list', 'list the roles').action(
    acting(settings, async () => (await roles()).listRoles),
  )
  addClientCommand(group, 'show', 'show a role')
    .argument('<role>', WHICH)
    .action(acting(settings, async () => (await roles()).showRole))
  withScope(addClientCommand(group, 'create', 'create a role'))
    .argument('<name>', 'its name')
    .option('--yes [profile]', 'of a protected profile: its name, to be not asked')
    .action(acting(settings, async () => (await roles()).createRole))
  withScope(addClientCommand(group, 'update', 'change a role, which signs out its users'))
    .argument('<role>', WHICH)
    .option('--name <name>', 'another name')
    .option('--all-databases', 'good for all databases again')
    .option('--yes [profile]', 'do not ask')
    .action(acting(settings, async () => (await roles()).updateRole))
  addClientCommand(group, 'delete', 'delete a role that no user has')
    .argument('<role>', WHICH)
    .option('--yes [name]', BY_NAME)
    .action(acting(settings, async () => (await roles()).deleteRole))
}

function addAcls(group: Command, settings: Settings): void {
  const rule = ['--rule <rule>', 'in the engines’ words, like "+@read ~cache:*"'] as const
  const dryRun = ['--dry-run', 'check it, and change nothing'] as const
  addClientCommand(group, 'list', 'list the rules').action(
    acting(settings, async () => (await acls()).listAcls),
  )
  addClientCommand(group, 'show', 'show a rule')
    .argument('<acl>', WHICH)
    .action(acting(settings, async () => (await acls()).showAcl))
  needing(addClientCommand(group, 'create', 'create a rule').argument('<name>', 'its name'), ...rule)
    .option(...dryRun)
    .option('--yes [profile]', 'of a protected profile: its name, to be not asked')
    .action(acting(settings, async () => (await acls()).createAcl))
  addClientCommand(group, 'update', 'change a rule, at once for all users who sign in under it')
    .argument('<acl>', WHICH)
    .option('--name <name>', 'another name')
    .option(...rule)
    .option(...dryRun)
    .option('--yes [profile]', 'do not ask')
    .action(acting(settings, async () => (await acls()).updateAcl))
  addClientCommand(group, 'delete', 'delete a rule that no database uses')
    .argument('<acl>', WHICH)
    .option(...dryRun)
    .option('--yes [name]', BY_NAME)
    .action(acting(settings, async () => (await acls()).deleteAcl))
  const check = addClientCommand(group, 'check', 'check a rule as its creation would')
  needing(check, ...rule).action(acting(settings, async () => (await acls()).checkAcl))
}

/** The API's managements, without loading them. */
const managements = [
  ...['admin', 'cluster_member', 'cluster_viewer', 'db_member', 'db_viewer', 'user_manager', 'none'],
]

function withScope(command: Command): Command {
  return command
    .addOption(new Option('--management <management>', 'what it may do').choices(managements))
    .option('--database <database>', 'good for this database only; may be repeated', collect, [])
}

function withPassword(command: Command): Command {
  return command
    .option('--password-stdin', 'the new password is the first line of stdin')
    .option('--password-file <file>', 'the new password is the first line of a file')
}
