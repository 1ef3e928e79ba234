import { createHash } from 'node:crypto'
import type { ShardSpec } from '@fairlead/api'
import { giveToOwnerOf } from '../folder/give-folder.ts'
import type { ShardFolder } from '../folder/shard-folder.ts'
import { writeDurably } from '../process/durable-file.ts'

type Certificate = NonNullable<ShardSpec['tls']>['certificate']

/** The files that an engine reads, for it only. */
export async function writeCertificate(
  folder: Pick<ShardFolder, 'certificate' | 'path'>,
  { ca, cert, key }: Certificate,
): Promise<void> {
  const { certificate: paths } = folder
  await writeDurably(paths.key, key)
  await writeDurably(paths.cert, cert)
  await writeDurably(paths.ca, ca)
  for (const path of Object.values(paths)) await giveToOwnerOf(folder, path)
}

/** By which a certificate is known in reports. */
export function nameOfCertificate(tls: ShardSpec['tls']): string | null {
  if (tls === null) return null
  const name = names.get(tls) ?? createHash('sha256').update(tls.certificate.cert).digest('hex')
  names.set(tls, name)
  return name
}

/** Each look at a shard asks for it. */
const names = new WeakMap<NonNullable<ShardSpec['tls']>, string>()
