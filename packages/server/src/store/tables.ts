/**
 * The tables for Kysely. Columns are portable: TEXT and INTEGER only, times as ISO 8601 text in UTC, JSON as
 * text, booleans as 0 and 1, ids made by us (`counters`).
 */
export interface Tables {
  readonly counters: { name: string; value: number }
  /** Leases by bucket. `expires_at`: Unix milliseconds by the store's clock; 0: free. */
  readonly buckets: { bucket: number; holder: string | null; epoch: number; expires_at: number }
  /** Servers with this store. */
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
  /** Names and e-mails for sign-in, case-folded. Each belongs to one user. */
  readonly logins: { login: string; user_uid: number }
  /** Login attempts of a source at a user. User 0 means all unknown users. */
  readonly login_lanes: {
    user_uid: number
    source: string
    known: number
    failures: number
    failed_at: string | null
    locked_until: string | null
    used_at: string
  }
  /** `password_sha256`: for engines, sealed; null until the first login after an update of Fairlead. */
  readonly passwords: {
    id: number
    user_uid: number
    phc: string
    issued_at: string
    password_sha256: string | null
  }
  /** Rules for users of databases. */
  readonly acls: { uid: number; name: string; acl: string }
  /** Roles whose users sign in to a database. */
  readonly roles_permissions: { database_uid: number; role_uid: number; acl_uid: number }
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
  /** Named `ca` and `proxy`; for shards `shards-ca:<uid>` and `shards:<uid>`. `private_key` is sealed. */
  readonly tls_certificates: {
    name: string
    certificate: string
    private_key: string
    origin: string
    created_at: string
  }
  readonly revoked_tokens: { id: string; user_uid: number; expires_at: string }
  /** Browser sessions. `id`: SHA-256 of the cookie; `epoch`: the user's at sign-in. */
  readonly sessions: { id: string; user_uid: number; epoch: number; signed_in_at: string; used_at: string }
  readonly settings: { name: string; value: string }
  /** Append-only. Each record includes the hash of the previous one. */
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
    /** Place among all events; null: older than these places, and no event. */
    event_seq: number | null
  }
  /** The last change of each database and node. `seq`: place among all events; `data`: facts of a node. */
  readonly changes: { topic: string; object_uid: number; seq: number; data: string | null }
  readonly databases: {
    uid: number
    name: string
    status: string
    /** An obstacle that only a person can remove; '': none. */
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
    /** Clients speak the cluster protocol to the shards. */
    oss_cluster: number
    /** Shards speak TLS to each other. */
    shard_tls: number
    /** Clients speak TLS to the endpoint. */
    tls: number
    /** Null if clients know the shards, or until it is assigned. */
    endpoint_port: number | null
    /** Modules of the database: {uid, name, semanticVersion, sha256, args}. */
    modules: string
    /** The database's own user may sign in. */
    default_user: number
    created_at: string
    changed_at: string
    /** Rises over all databases with each order, so that servers find new ones. */
    seq: number
  }
  /** Access that a change has replaced. `kind`: `place` with port and tls, `name`, or `password`. */
  readonly former_access: {
    database_uid: number
    kind: string
    port: number | null
    tls: number | null
    name: string | null
    digest: string | null
    until: string
  }
  /** Ranges of slots; a database without sharding has one range. */
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
    /** Port for replicas if shards speak TLS. */
    tls_port: number | null
    flavour: string
    version: string
    restart_nonce: number
    follows: number | null
    leaving: number
    /** Memory reserved until it holds its data. */
    reserved_bytes: number
    /** Modules that its process loads. */
    modules: string
    /** The process with a limit raised for a full sync, and its previous limit. */
    limit_before: string | null
    created_at: string
  }
  readonly actions: {
    uid: string
    database_uid: number
    kind: string
    status: string
    goal: string
    /** The goal as accepted. */
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
    /** The way that it ends, if not completed. */
    ending: string | null
    /** The request without secrets. */
    request: string | null
    requested_by: string | null
    began_at: string | null
    ended_at: string | null
    /** W3C Trace Context of the request, if it is traced. */
    traceparent: string | null
    created_at: string
    changed_at: string
  }
  /** One row per group of an action. */
  readonly action_lanes: { action_uid: string; group_number: number; data: string }
  /** `manifest` is module.json in our words. */
  readonly modules: {
    uid: string
    name: string
    semantic_version: string
    sha256: string
    size_bytes: number
    manifest: string
    created_at: string
  }
  /** Changes of the catalogue, complete when recorded. */
  readonly module_actions: { uid: string; kind: string; module_uid: string; created_at: string }
  /** Visible changes of actions. `data` depends on `type`: changed fields, or a certificate. */
  readonly action_events: { seq: number; action_uid: string; at: string; type: string; data: string }
  /** One row per handover: the intent first, then its certificate; closed when that is complete. */
  readonly handovers: {
    id: number
    database_uid: number
    group_number: number
    action_uid: string | null
    from_shard: number
    to_shard: number
    /** Earlier full syncs of the members, to count those of the handover. */
    full_syncs_before: string
    intended_at: string
    /** The old primary when it became a replica. */
    standby: string | null
    released: number
    certificate: string | null
    closed: number
  }
  /** Counts of the endpoint around the newest handovers, in buckets. */
  readonly handover_tapes: { handover_id: number; data: string }
}
