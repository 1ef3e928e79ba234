/**
 * A field of the wider API that Fairlead lacks, or supports in part. The values `taken`, and null, ask for
 * the default: the field is then ignored. Other values are refused with `field_not_available`, the field's
 * name and `offered`.
 */
export interface NeutralField {
  /** A dot leads into an object: "cluster.nodes". */
  readonly name: string
  readonly taken: readonly unknown[]
  /** The alternative, or the reason. */
  readonly offered: string
  /** The operation handles other values of this field. */
  readonly own?: true
}

/**
 * Default policy of the wider API: the slot comes from the part in braces, or from the whole key. Programs
 * write the braces in two ways, and the list in two. The last one is the answer.
 */
const keyRegexes = ['.*{(?<tag>.*)}.*', '.*\\{(?<tag>.*)\\}.*'].map((tag) => [tag, '(?<tag>.*)'])
const defaultKeyRegexes = [...keyRegexes, ...keyRegexes.map((all) => all.map((regex) => ({ regex })))]

const oneNode = 'each database is on one node'
const oneProxy = 'each database has one endpoint'
const noBackup = 'backups are made when they are asked for, POST /v1/bdbs/{uid}/backups, and not regularly'
const noGeo = 'there are no databases over several clusters'
const noSource = 'a database does not follow another one'
const noFlash = 'all data is in memory'
const noClientCertificates = 'clients sign in with a password: tls_mode enabled asks them for no certificate'
const noLimits = 'the limits of the endpoint apply: docs/reference/limits.md'
const oneUser = 'users sign in with roles_permissions, and as default'

type Row = readonly [string, readonly unknown[], string]

const databaseRows: readonly Row[] = [
  ['shards_placement', ['dense'], oneNode],
  ['rack_aware', [false], oneNode],
  ['slave_ha', [false], 'a shard that dies is started again on its node'],
  ['proxy_policy', ['single'], oneProxy],
  ['oss_sharding', [false, true], 'slots are those of the engine, with it and without'],
  ['oss_cluster_api_preferred_ip_type', ['internal'], 'shards announce the address of their node'],
  ['oss_cluster_api_preferred_endpoint_type', ['ip'], 'shards announce the address of their node'],
  [
    'shard_key_regex',
    [[], ...defaultKeyRegexes],
    'slots are those of the engine: of the part in braces, or of the whole key',
  ],
  ['hash_slots_policy', ['16k'], 'slots are those of the engine: 16384'],
  ['implicit_shard_key', [false], 'slots are those of the engine'],
  ['crdt', [false], noGeo],
  ['crdt_guid', [''], noGeo],
  ['crdt_sources', [[]], noGeo],
  ['crdt_sync', ['disabled'], noGeo],
  ['crdt_causal_consistency', [false], noGeo],
  ['replica_sources', [[]], noSource],
  ['replica_sync', ['disabled'], noSource],
  ['sync', ['disabled'], noSource],
  ['sync_sources', [[]], noSource],
  ['bigstore', [false], noFlash],
  ['bigstore_ram_size', [0], noFlash],
  ['backup', [false], noBackup],
  ['backup_interval', [0, 86_400], noBackup],
  ['backup_interval_offset', [0], noBackup],
  ['backup_history', [0], noBackup],
  ['backup_location', [''], noBackup],
  ['dataset_import_sources', [[]], 'from_backup names a backup; other data are loaded with a client'],
  ['mtls_allow_outdated_certs', [false], noClientCertificates],
  ['mtls_allow_weak_hashing', [false], noClientCertificates],
  ['enforce_client_authentication', ['disabled'], noClientCertificates],
  ['authentication_ssl_client_certs', [[]], noClientCertificates],
  ['authentication_ssl_crdt_certs', [[]], noGeo],
  ['client_cert_subject_validation_type', ['disabled'], noClientCertificates],
  ['authorized_names', [[]], noClientCertificates],
  ['authorized_subjects', [[]], noClientCertificates],
  ['data_internode_encryption', [false], 'the server decides it for all databases: FAIRLEAD_SHARD_TLS'],
  ['authentication_admin_pass', [''], oneUser],
  ['authentication_sasl_uname', [''], 'memcached is not available'],
  ['authentication_sasl_pass', [''], 'memcached is not available'],
  ['acl', [[]], oneUser],
  ['tags', [[]], 'a database has a name only'],
  ['email_alerts', [false], 'no alerts are sent'],
  ['db_conns_auditing', [false], 'connections of clients are not audited'],
  ['avoid_nodes', [[]], oneNode],
  ['use_nodes', [[]], oneNode],
  ['auto_upgrade', [false], 'a database is upgraded when that is asked for'],
  ['internal', [false], 'all databases are for clients'],
  ['mkms', [true], 'docs/reference/commands.md has the commands that work with keys of several groups'],
  ['resp3', [true], 'clients choose the protocol with HELLO'],
  ['max_connections', [0], noLimits],
  ['maxclients', [10_000], noLimits],
  ['max_client_pipeline', [200], noLimits],
  ['max_pipelined', [2_000], noLimits],
  ['conns', [5], noLimits],
  ['conns_type', ['per-thread'], noLimits],
  ['slave_buffer', ['auto'], 'Fairlead sets what replication needs: docs/reference/limits.md'],
  ['repl_backlog_size', ['auto'], 'Fairlead sets what replication needs: docs/reference/limits.md'],
  ['recovery_wait_time', [-1], 'a shard is waited for without end'],
  ['multi_commands_opt', ['auto'], 'transactions are those of the engine'],
  ['tracking_table_max_keys', [1_000_000], 'it is the default of the engine'],
  ['wait_command', [true], 'WAIT is a command like any other'],
  ['sched_policy', ['cmp'], oneProxy],
  ['disabled_commands', [''], 'docs/reference/commands.md has the commands that a database refuses'],
  ['generate_text_monitor', [false], 'MONITOR is refused at the endpoint'],
  ['metrics_export_all', [false], 'metrics are the same for all databases'],
  ['gradual_src_mode', ['disabled'], noSource],
  ['gradual_src_max_sources', [1], noSource],
  ['gradual_sync_mode', ['auto'], noSource],
  ['gradual_sync_max_shards_per_source', [1], noSource],
  ['group_uid', [0], 'databases have no groups'],
  ['account_id', [0], 'there are no accounts'],
]

/** Programs that send them never read them: answers lack them. */
const unansweredRows: readonly Row[] = [
  ['shard_block_crossslot_keys', [false], 'scripts have the rules of the engine'],
  ['shard_block_foreign_keys', [true], 'scripts have the rules of the engine'],
  ['max_aof_file_size', [322_122_547_200], 'the file of changes is bounded by the disk of the node'],
  ['max_aof_load_time', [3600], 'a shard that loads its data is waited for without end'],
  ['master_persistence', [false, true], 'primaries and replicas are persistent alike: data_persistence'],
  ['replica_sync_dist', [false, true], noSource],
  ['skip_import_analyze', ['disabled'], noSource],
  ['syncer_mode', ['centralized', 'distributed'], noSource],
  ['syncer_log_level', ['info'], noSource],
  ['sync_dedicated_threads', [5], noSource],
  ['support_syncer_reconf', [false, true], noSource],
  ['crdt_sync_dist', [false, true], noGeo],
  ['crdt_syncer_auto_oom_unlatch', [true], noGeo],
  ['crdt_xadd_id_uniqueness_mode', ['strict'], noGeo],
  ['crdt_repl_backlog_size', ['auto'], noGeo],
  ['crdt_ghost_replica_ids', [''], noGeo],
  ['crdt_replicas', [''], noGeo],
  ['crdt_replica_id', [0], noGeo],
  ['crdt_config_version', [0], noGeo],
  ['throughput_ingress', [0], noLimits],
  ['bigstore_ram_weights', [[]], noFlash],
  ['backup_status', [''], noBackup],
  ['backup_progress', [0], noBackup],
  ['export_status', [''], noBackup],
  ['export_progress', [0], noBackup],
  ['import_status', [''], 'load data with a client'],
  ['import_progress', [0], 'load data with a client'],
  ['bigstore_version', [1], noFlash],
  ['crdt_modules', ['[]'], noGeo],
  ['slave_ha_priority', [0], 'a shard that dies is started again on its node'],
]

const generated = 'generated when empty'
const newest = 'the newest when empty'

/** For POST /v1/bdbs and PUT /v1/bdbs/:uid, most of them also for answers. */
export const answeredDatabaseFields: readonly NeutralField[] = databaseRows.map(toField)

/** For POST /v1/bdbs and PUT /v1/bdbs/:uid. */
export const neutralDatabaseFields: readonly NeutralField[] = [...databaseRows, ...unansweredRows].map(
  toField,
)

/** Our fields with empty values that mean nothing, and the older TLS field, whose default may be sent. */
const emptyOfOurs: readonly NeutralField[] = (
  [
    ['ssl', [false], 'true is tls_mode enabled'],
    ['authentication_redis_pass', [''], generated],
    ['authentication_engine_pass', [''], generated],
    ['engine_version', [''], newest],
    ['redis_version', [''], newest],
    ['version', [''], newest],
  ] as const satisfies readonly Row[]
).map(ofOurs)

/** For PUT /v1/bdbs/:uid. */
export const neutralChangeFields: readonly NeutralField[] = [...neutralDatabaseFields, ...emptyOfOurs]

/** For POST /v1/bdbs. */
export const neutralCreationFields: readonly NeutralField[] = [
  ...neutralChangeFields,
  ofOurs(['snapshot_policy', [[]], 'its other values are fields of Fairlead']),
]

const own =
  'the agent on each machine knows its folders and addresses, and keeps data in FAIRLEAD_HOME: docs/reference/configuration.md'

/**
 * For POST /v1/bootstrap/create_cluster. Fields of an object precede it. The folders are the defaults of the
 * wider API: a program that names them asks for nothing else.
 */
export const neutralClusterFields: readonly NeutralField[] = (
  [
    ['cluster.nodes', [[]], 'the cluster begins with this node'],
    ['cluster.rack_aware', [false], oneNode],
    ['node.paths.persistent_path', ['', '/var/opt/redislabs/persist'], own],
    ['node.paths.ephemeral_path', ['', '/var/opt/redislabs/tmp'], own],
    ['node.paths', [{}], own],
    ['node.identity', [{}], own],
    ['node.limits', [{}], own],
    ['node.bigstore_enabled', [false], noFlash],
    ['node', [{}], own],
    ['policy.rack_aware', [false], oneNode],
    ['policy', [{}], 'PUT /v1/cluster and PUT /v1/cluster/policy change the policies'],
    ['license', [''], 'Fairlead is open and needs none'],
    ['dns_suffixes', [[]], 'FAIRLEAD_ENDPOINT_SUFFIX gives endpoints their names'],
    ['flash_enabled', [false], noFlash],
    ['cluster_policies', [{}], 'PUT /v1/cluster and PUT /v1/cluster/policy change the policies'],
  ] as const satisfies readonly Row[]
).map(toField)

const noMail = 'no alerts are sent'

/** For PUT /v1/cluster; answers have the first value. */
export const neutralSettings: readonly NeutralField[] = (
  [
    ['rack_aware', [false], oneNode],
    ['upgrade_mode', [false], 'databases are upgraded one by one, each when that is asked for'],
    ['upgrade_in_progress', [false], 'the server and the agent are exchanged by starting newer ones'],
    ['block_cluster_changes', [false], 'changes are always possible'],
    ['email_alerts', [false], noMail],
    ['email_from', [''], noMail],
    ['smtp_host', [''], noMail],
    ['bigstore_driver', [''], noFlash],
    ['availability_lag_tolerance_ms', [100], 'a request has its own availability_lag_tolerance_ms'],
  ] as const satisfies readonly Row[]
).map(toField)

/** For PUT /v1/cluster/policy; answers have the first value. */
export const neutralPolicies: readonly NeutralField[] = (
  [
    ['parallel_shards_upgrade', [0], 'an upgrade has its own parallel_shards_upgrade'],
    ['redis_upgrade_policy', ['latest'], 'an upgrade goes to the newest build, unless it names a version'],
    ['default_shards_placement', ['dense'], oneNode],
    ['default_sharded_proxy_policy', ['single'], oneProxy],
    ['default_non_sharded_proxy_policy', ['single'], oneProxy],
    ['rack_aware', [false], oneNode],
    ['slave_ha', [false], 'a shard that dies is started again on its node'],
    ['data_internode_encryption', [false], 'FAIRLEAD_SHARD_TLS decides about TLS between shards'],
    ['db_conns_auditing', [false], 'connections of clients are not audited'],
    ['resp3_default', [true], 'clients choose the protocol with HELLO'],
    ['show_internals', [false], 'all databases are for clients'],
  ] as const satisfies readonly Row[]
).map(toField)

function toField([name, taken, offered]: Row): NeutralField {
  return { name, taken, offered }
}

function ofOurs(row: Row): NeutralField {
  return { ...toField(row), own: true }
}
