/**
 * Every error of the API, with status and meaning; docs/reference/errors.md, the OpenAPI document and the
 * client's types come from it. Statuses that the specification lacks: docs/decisions/0007.
 */
export const errors = {
  invalid_request: {
    status: 400,
    meaning: 'The request is malformed; the message names the field and the fix',
  },
  invalid_version: { status: 400, meaning: 'No engine build in the catalogue matches the version asked for' },
  engine_downgrade_unsupported: { status: 400, meaning: 'The target engine is older than the current one' },
  conflicting_fields: { status: 400, meaning: 'Two fields of the request contradict each other' },
  field_not_available: {
    status: 400,
    meaning: 'The field is known, and this value is not offered; the message names both, and what is offered',
  },
  command_not_allowed: {
    status: 400,
    meaning: 'The command does not exist, or needs its own connection; the message has the reason',
  },
  command_failed: { status: 400, meaning: 'The engine refused the command; the message has its words' },
  port_unavailable: { status: 400, meaning: 'A fixed port cannot be given to this database' },
  password_not_complex: { status: 400, meaning: 'The new password does not keep the rules of the cluster' },
  new_password_same_as_current: { status: 400, meaning: 'The new password is one that the user has already' },
  cannot_delete_last_password: { status: 400, meaning: 'A user keeps at least one password' },
  no_module: {
    status: 400,
    meaning: 'The request carries no module package; send it as a form, in the field module',
  },
  invalid_module: {
    status: 400,
    meaning: 'The module package cannot be used; the message names the fault and the fix',
  },
  module_exists: { status: 400, meaning: 'The catalogue has a module of this name and version already' },
  os_not_supported: { status: 400, meaning: 'The module is made for an operating system that no node runs' },
  dependencies_not_supported: {
    status: 400,
    meaning: 'The module needs files besides its own, which Fairlead does not install',
  },
  invalid_acl: {
    status: 400,
    meaning: 'The rule cannot be used; the message names the fault, or has the words of an engine',
  },
  invalid_certificate: {
    status: 400,
    meaning: 'The certificate or its key cannot be used; the message names which and the fix',
  },
  unsupported_resource: { status: 400, meaning: 'A role of this management cannot be limited to databases' },
  invalid_credentials: {
    status: 401,
    meaning: 'The username or the password is wrong, or the user is locked or disabled',
  },
  password_expired: { status: 401, meaning: 'The password has expired and must be changed' },
  unauthorized: { status: 401, meaning: 'The request carries no valid token' },
  forbidden: { status: 403, meaning: 'The role of this user lacks the permission that the operation needs' },
  foreign_page: {
    status: 403,
    meaning:
      'A change that comes with the cookie of a session, or begins one, must come from a page of this server, with the header Fairlead-Request: 1',
  },
  unauthorized_action: { status: 403, meaning: 'Only an admin may do this to another user, or to an admin' },
  not_found: { status: 404, meaning: 'There is nothing at this path' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not have this method; the header `Allow` names those that it has',
  },
  db_not_exist: { status: 404, meaning: 'The database does not exist' },
  shard_not_exist: { status: 404, meaning: 'The shard does not exist' },
  node_not_exist: { status: 404, meaning: 'The node does not exist' },
  user_not_exist: { status: 404, meaning: 'The user does not exist' },
  role_not_exist: { status: 404, meaning: 'The role does not exist' },
  acl_not_exist: { status: 404, meaning: 'The rule for users of databases does not exist' },
  action_not_exist: { status: 404, meaning: 'The action does not exist' },
  trace_not_exist: {
    status: 404,
    meaning: 'There is no trace of the handover, and none will come; the message has the reason',
  },
  trace_not_ready: {
    status: 409,
    meaning: 'The role has moved less than 3 seconds ago: the trace of the handover comes soon',
  },
  endpoint_not_exist: { status: 404, meaning: 'The database has no endpoint' },
  backup_not_exist: { status: 404, meaning: 'The backup does not exist' },
  module_not_exist: { status: 404, meaning: 'The module does not exist' },
  module_in_use: { status: 406, meaning: 'A database uses the module' },
  insecure_version: {
    status: 406,
    meaning:
      'The engine build has known holes through which clients can run code in the engine; the message names them, and the sound builds',
  },
  upgrade_path_unsupported: {
    status: 406,
    meaning: 'Replication cannot carry the data from the current engine to the target',
  },
  upgrade_would_discard_data: {
    status: 406,
    meaning: 'The upgrade would lose data, and the request does not allow that',
  },
  backup_not_readable: {
    status: 406,
    meaning:
      'The new database cannot take the data of the backup; the message names the reason, and what can take them',
  },
  target_does_not_start: {
    status: 406,
    meaning: 'The target engine does not start as this database needs it; nothing was touched',
  },
  invalid_object: { status: 406, meaning: 'There is no schema of an object of this name' },
  missing_module: { status: 406, meaning: 'The module is not present in the cluster' },
  module_downgrade_unsupported: { status: 406, meaning: 'Downgrading a module is not allowed' },
  engine_incompatible_version: {
    status: 406,
    meaning: "The module's min_engine_version is greater than the engine version",
  },
  engine_pack_incompatible_version: {
    status: 406,
    meaning: "The module's min_engine_pack_version is greater than the cluster software version",
  },
  unsupported_module_capabilities: {
    status: 406,
    meaning: 'The module does not support all capabilities that the database configuration needs',
  },
  upgrade_failed: {
    status: 406,
    meaning:
      'The upgrade was started and taken back; the message has the reason; the database serves as before',
  },
  memory_size_too_small: {
    status: 406,
    meaning:
      'The database uses more than the new memory_size, or empty engines already take more; the message names a sufficient size',
  },
  insufficient_resources: { status: 406, meaning: 'The cluster has not enough room for the request' },
  change_last_admin_role_not_allowed: {
    status: 406,
    meaning: 'The cluster would be left without an admin who can sign in',
  },
  role_is_built_in: { status: 406, meaning: 'A built-in role cannot be changed or deleted' },
  role_in_use: { status: 406, meaning: 'The role still belongs to a user, or signs in to a database' },
  acl_in_use: { status: 406, meaning: 'A database uses the rule in its roles_permissions' },
  too_many_passwords: { status: 406, meaning: 'The user has as many passwords as a user can have' },
  acl_is_built_in: { status: 409, meaning: 'A built-in rule cannot be changed or deleted' },
  cluster_already_exists: { status: 409, meaning: 'The cluster has been created already' },
  action_ended: { status: 409, meaning: 'The action has ended, and takes no orders any more' },
  order_not_applicable: {
    status: 409,
    meaning: 'The order would change nothing in the present state of the action; the message names the state',
  },
  rollback_not_possible: {
    status: 409,
    meaning: 'The upgrade cannot be taken back without a loss; the message has the reason',
  },
  shard_of_another: {
    status: 409,
    meaning: 'The node has a shard of this number that belongs to another database (agent only)',
  },
  db_busy: { status: 409, meaning: 'Another change is running on this database' },
  plan_outdated: {
    status: 409,
    meaning:
      'What the plan depends on has changed since: ask for a new plan (dry_run), and send its basis in If-Match',
  },
  email_already_exists: { status: 409, meaning: 'Another user signs in with this e-mail' },
  name_already_exists: { status: 409, meaning: 'There is already one with this name' },
  stale_epoch: {
    status: 412,
    meaning:
      'Another server has taken over this part of the work; only agents and proxies answer it, and only to servers',
  },
  too_many_requests: {
    status: 429,
    meaning:
      'Too many password checks wait, too many wrong passwords came from here, or too many streams, requests or fetches of builds are open; try again after Retry-After seconds',
  },
  internal_error: { status: 500, meaning: 'A fault of ours; quote the id in the message' },
  bdb_unavailable: {
    status: 503,
    meaning: 'With extend_check=lag: a replica of the database is not linked, or lags',
  },
  bdb_endpoint_unavailable: {
    status: 503,
    meaning: 'With extend_check=lag: a replica behind the endpoint of this node is not linked, or lags',
  },
  bdb_unavailable_shard_unreachable: {
    status: 503,
    meaning: 'No engine answers behind the address of the database',
  },
  bdb_unavailable_port_unbound: { status: 503, meaning: 'No process listens at the address of the database' },
  unavailable: { status: 503, meaning: 'A part of the cluster does not answer right now; try again' },
  outcome_unknown: {
    status: 503,
    meaning:
      'A part of the cluster stopped answering after the change was written, or while it was: it may have been done. Check before you ask for it again',
  },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>

/** `error_code` of an answer. */
export type ErrorCode = keyof typeof errors

/** An obstacle of a request. `field` is its field of the request; undefined: none or several. */
export interface RequestObstacle {
  readonly code: ErrorCode
  readonly message: string
  readonly field?: string | undefined
}

/** A declined request. Every other thrown error is an outage or a bug. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: ErrorCode
  /** Time until a retry makes sense; undefined: unknown. */
  readonly retryAfterSeconds: number | undefined
  /** The message without the advice. */
  readonly problem: string
  /** The advice; undefined: the problem is clear. */
  readonly wayOut: string | undefined
  /** All obstacles; undefined: only this refusal. */
  readonly obstacles: readonly RequestObstacle[] | undefined

  constructor(
    code: ErrorCode,
    problem: string = errors[code].meaning,
    options: ErrorOptions & {
      readonly retryAfterSeconds?: number
      readonly wayOut?: string
      readonly obstacles?: readonly RequestObstacle[]
    } = {},
  ) {
    super(options.wayOut === undefined ? problem : `${problem}; ${options.wayOut}`, options)
    this.code = code
    this.problem = problem
    this.wayOut = options.wayOut
    this.retryAfterSeconds = options.retryAfterSeconds
    this.obstacles = options.obstacles
  }

  get status(): number {
    return errors[this.code].status
  }
}
