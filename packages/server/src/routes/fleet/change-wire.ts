import type { Body, updateDatabase } from '@fairlead/api'
import type { ChangeRequest } from '../../core/requests/resolve-change.ts'
import { fsyncOf, oneOf } from './database-wire.ts'
import { signInFromWire } from './sign-in-wire.ts'

/** Splits a change into the settings that can be changed, and other fields. */
export function changeFromWire(body: Body<typeof updateDatabase>): {
  readonly request: ChangeRequest
  readonly rest: Readonly<Record<string, unknown>>
} {
  const { memory_size, eviction_policy, replication, data_persistence, ...others } = body
  const { aof_policy, snapshot_policy, name, port, tls_mode, former_valid_seconds, ...more } = others
  const { authentication_engine_pass: password, authentication_redis_pass: older, ...own } = more
  const { request: signIn, rest } = signInFromWire(own)
  return {
    request: {
      memoryBytes: memory_size,
      evictionPolicy: eviction_policy,
      replicas: replication === undefined ? undefined : Number(replication),
      persistence: data_persistence,
      aofFsync: aof_policy === undefined ? undefined : fsyncOf(aof_policy),
      snapshots: snapshot_policy,
      name,
      // As at creation: no port of its own is asked for.
      endpointPort: port === 0 ? undefined : port,
      tls: tls_mode === undefined ? undefined : tls_mode === 'enabled',
      userPassword: oneOf(
        'authentication_engine_pass',
        password || undefined,
        'authentication_redis_pass',
        older || undefined,
      ),
      formerSeconds: former_valid_seconds,
      ...signIn,
    },
    rest,
  }
}
