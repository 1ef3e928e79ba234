import type { ShardSpec } from '@fairlead/api'
import type { Reply } from '@fairlead/engine'

/** masterauth, requirepass, tls-key-file-pass, … but not masteruser, tls-auth-clients or aclfile. */
const SECRET = /(pass|password|passwd|passphrase|auth|secret|token|credentials?)$/i

/** Shorter passwords look like ordinary values: "yes" would remove half of the settings. */
const LEAST_SECRET = 8

/**
 * Reads the settings of a CONFIG GET reply, by name. Those copied from its primary are '': they count as set
 * later. Secrets, and values with a password of `spec`, are omitted.
 */
export function readSettings(
  reply: Reply,
  spec: Pick<ShardSpec, 'adminPassword' | 'userPassword' | 'encodings'>,
): Record<string, string> {
  if (!Array.isArray(reply)) throw new Error('CONFIG GET has not answered with a list')
  const words = reply.map(String)
  const secrets = [spec.adminPassword, spec.userPassword].filter((secret) => secret.length >= LEAST_SECRET)
  const pairs = words.flatMap((name, n): [string, string][] =>
    n % 2 === 0 ? [[name, words[n + 1] ?? '']] : [],
  )
  const told = pairs.filter(
    ([name, value]) => !SECRET.test(name) && !secrets.some((secret) => value.includes(secret)),
  )
  const given = Object.keys(spec.encodings ?? {}).flatMap((name) => [
    name,
    name.replace('ziplist', 'listpack'),
  ])
  return Object.fromEntries(told.map(([name, value]) => [name, given.includes(name) ? '' : value]))
}
