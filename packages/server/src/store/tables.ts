/**
 * The tables, as Kysely sees them. Columns are portable between SQLite and PostgreSQL: TEXT and INTEGER only, times
 * as ISO 8601 text in UTC, JSON as text, booleans as 0 and 1, ids made by us (`counters`).
 */
export interface Tables {
  readonly counters: { name: string; value: number }
  /** Leases, by bucket of databases. `expires_at`: milliseconds since 1970 by the clock of the store; 0: free. */
  readonly buckets: { bucket: number; holder: string | null; epoch: number; expires_at: number }
  /** The servers that use this store. */
  readonly servers: { name: string; seen_at: number }
  readonly users: {
    uid: number
    name: string
    email: string | null
    disabled: number
    token_epoch: number
    failures: number
    failed_at: string | null
    locked_until: string | null
    last_login_at: string | null
    alerts: string
    created_at: string
    changed_at: string
  }
  /** What a user signs in with, folded: names and e-mails. One login leads to one user. */
  readonly logins: { login: string; user_uid: number }
  /** How the tries of one source at one user's account went. User 0 stands for all that do not exist. */
  readonly login_lanes: {
    user_uid: number
    source: string
    known: number
    failures: number
    failed_at: string | null
    locked_until: string | null
    used_at: string
  }
  readonly passwords: { id: number; user_uid: number; phc: string; issued_at: string }
  readonly roles: { uid: number; name: string; management: string; databases: string }
  readonly user_roles: { user_uid: number; role_uid: number }
  /** `private_jwk` is sealed. */
  readonly signing_keys: {
    kid: string
    private_jwk: string
    created_at: string
    active_at: string | null
    retired_at: string | null
  }
  /** By name: `ca` and `proxy`; of the shards of a database `shards-ca:<uid>` and `shards:<uid>`. `private_key` is sealed. */
  readonly tls_certificates: {
    name: string
    certificate: string
    private_key: string
    origin: string
    created_at: string
  }
  readonly revoked_tokens: { id: string; user_uid: number; expires_at: string }
  /** Of browsers. `id`: the SHA-256 of what the cookie says; `epoch`: the user's when it began. */
  readonly sessions: { id: string; user_uid: number; epoch: number; signed_in_at: string; used_at: string }
  readonly settings: { name: string; value: string }
  /** Append-only. Each record covers the one before it. */
  readonly audit: {
    seq: number
    at: string
    type: string
    user_uid: number | null
    originator: string
    address: string | null
    database_uid: number | null
    details: string
    previous: string
    hash: string
    /** Its place among all events; null: it is older than these places, and no event. */
    event_seq: number | null
  }
  /** The last change of each database, and of what is known of each node. `seq`: its place among all events. `data`: of a node, its facts. */
  readonly changes: { topic: string; object_uid: number; seq: number; data: string | null }
  readonly databases: {
    uid: number
    name: string
    status: string
    /** What only a person can remove; '' when there is nothing. */
    obstacle: string
    flavour: string
    version: string
    restart_nonce: number
    memory_bytes: number
    replicas: number
    persistence: string
    aof_fsync: string
    snapshots: string
    eviction_policy: string
    admin_password: string
    user_password: string
    cluster: number
    /** Its clients speak the cluster protocol to its shards. */
    oss_cluster: number
    /** Its shards speak TLS to each other. */
    shard_tls: number
    /** Its clients speak TLS to its endpoint. */
    tls: number
    /** Null where clients know its shards, and until it was given one. */
    endpoint_port: number | null
    /** A list of what it has of the catalogue: {uid, name, semanticVersion, sha256, args}. */
    modules: string
    created_at: string
    changed_at: string
    /** Rises over all databases with each order of a user: servers see by it what is new. */
    seq: number
  }
  /** Ranges of slots; a database that is not sharded has one, for all. */
  readonly groups: {
    database_uid: number
    number: number
    first_slot: number
    last_slot: number
    primary_shard: number | null
    history_replid: string | null
    history_offset: number | null
    history_run_id: string | null
    history_before_replid: string | null
    history_before_until: number | null
  }
  readonly shards: {
    id: number
    database_uid: number
    group_number: number
    node_uid: number
    host: string
    port: number
    /** Where replicas find it when shards speak TLS to each other. */
    tls_port: number | null
    flavour: string
    version: string
    restart_nonce: number
    follows: number | null
    leaving: number
    /** Memory kept free for it until it holds its data. */
    reserved_bytes: number
    /** What its process loads, as its database's. */
    modules: string
    /** While its process holds back more for a full sync: which process, and how much it held back before. */
    limit_before: string | null
    created_at: string
  }
  readonly actions: {
    uid: string
    database_uid: number
    kind: string
    status: string
    goal: string
    /** The goal as it was accepted. */
    asked: string
    orders: string
    way_back: string
    warnings: string
    handed_over_at: string | null
    progress: number
    step: string
    hold_reason: string | null
    waiting_for: string
    needs_person: number
    pending: string
    error: string | null
    waiting: string | null
    handing_over: number
    phase: string
    /** How it ends if not as completed. */
    ending: string | null
    /** What was asked for, without secrets. */
    request: string | null
    requested_by: string | null
    began_at: string | null
    ended_at: string | null
    /** Of the request that began it, if that is traced: W3C Trace Context. */
    traceparent: string | null
    created_at: string
    changed_at: string
  }
  /** One row a group of an action. */
  readonly action_lanes: { action_uid: string; group_number: number; data: string }
  /** `manifest` is what module.json said, in our words. */
  readonly modules: {
    uid: string
    name: string
    semantic_version: string
    sha256: string
    size_bytes: number
    manifest: string
    created_at: string
  }
  /** Changes of the catalogue. Each had ended when it was written. */
  readonly module_actions: { uid: string; kind: string; module_uid: string; created_at: string }
  /** What people see change of actions. `data` is by `type`: the changed fields, or a certificate. */
  readonly action_events: { seq: number; action_uid: string; at: string; type: string; data: string }
  /** One row a handover: the intent first, then its certificate, closed when the certificate is complete. */
  readonly handovers: {
    id: number
    database_uid: number
    group_number: number
    action_uid: string | null
    from_shard: number
    to_shard: number
    /** Full syncs the members had served before, to count those that the handover caused. */
    full_syncs_before: string
    intended_at: string
    /** The old primary as it was when it became a replica. */
    standby: string | null
    released: number
    certificate: string | null
    closed: number
  }
  /** What the endpoint counted around a handover, in buckets; of the newest handovers. */
  readonly handover_tapes: { handover_id: number; data: string }
  /** `slot`: the number of the interval since 1970. `points`: JSON, compressed, in base64. */
  readonly statistics: { resolution: string; slot: number; points: string }
}
