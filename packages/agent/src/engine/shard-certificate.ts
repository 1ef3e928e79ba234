import { createHash } from 'node:crypto'
import type { ShardSpec } from '@fairlead/api'
import { giveToOwnerOf } from '../folder/give-folder.ts'
import type { ShardFolder } from '../folder/shard-folder.ts'
import { replaceFile } from '../process/durable-file.ts'

type Certificate = NonNullable<ShardSpec['tls']>['certificate']

/** Writes the files for one engine only, before each start, and before a running engine reads them again. */
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

/** Returns the name of a certificate in reports. */
export function nameOfCertificate(tls: ShardSpec['tls']): string | null {
  if (tls === null) return null
  const name = names.get(tls) ?? createHash('sha256').update(tls.certificate.cert).digest('hex')
  names.set(tls, name)
  return name
}

/** Cached, because each look at a shard needs it. */
const names = new WeakMap<NonNullable<ShardSpec['tls']>, string>()
