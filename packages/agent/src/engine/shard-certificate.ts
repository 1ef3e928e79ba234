import { createHash } from 'node:crypto'
import type { ShardSpec } from '@fairlead/api'
import { giveToOwnerOf } from '../folder/give-folder.ts'
import type { ShardFolder } from '../folder/shard-folder.ts'
import { replaceFile } from '../process/durable-file.ts'

type Certificate = NonNullable<ShardSpec['tls']>['certificate']

/** The files that an engine reads, for it only. They are written before each start, and before a running engine is told of them. */
export async function writeCertificate(
  folder: Pick<ShardFolder, 'certificate' | 'path'>,
  { ca, cert, key }: Certificate,
): Promise<void> {
  const { certificate: paths } = folder
  await replaceFile(paths.key, key)
  await replaceFile(paths.cert, cert)
  await replaceFile(paths.ca, ca)
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
