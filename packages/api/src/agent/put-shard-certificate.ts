import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { ShardId } from './put-limits.ts'

/** Certificate of a database's shards for each other, and the trusted authority: PEM. */
export const ShardCertificate = Type.Object(
  {
    /** The authority of the database, which signed `cert`; the only trusted one. */
    ca: Type.String(),
    cert: Type.String(),
    key: Type.String(),
  },
  { additionalProperties: false },
)

/** Server → agent. Replaces the certificate of the running process, which keeps its connections. */
export const putShardCertificate = operation({
  method: 'PUT',
  path: '/agent/shards/:id/certificate',
  summary:
    'Let this shard prove itself with another certificate from now on, its running process too. No process is started or stopped. No error if the shard does not exist, is being removed, or has a plain bus',
  since: '0.1.0',
  permission: null,
  fenced: true,
  params: ShardId,
  body: ShardCertificate,
  ok: Type.Object({ id: Type.String() }),
  errors: [],
})
