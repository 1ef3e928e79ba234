import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { WantedShard } from '@fairlead/api'
import type { ShardWorkplace } from './carry-out.ts'
import { writeDurably } from './durable-file.ts'
import { certificateSettings } from './engine-config.ts'
import { giveToOwnerOf } from './give-folder.ts'
import type { ProcessRecord, ShardFolder } from './shard-folder.ts'

type Certificate = NonNullable<WantedShard['tls']>['certificate']

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

/** A process that runs proves itself with what is wanted now. Connections that it has stay as they are. */
export async function renewCertificate(
  place: Pick<ShardWorkplace, 'folder' | 'pulse' | 'save'>,
  wanted: WantedShard,
  last: ProcessRecord | null,
): Promise<void> {
  const tls = last?.wish.tls ?? null
  if (last === null || tls === null || wanted.tls === null || last.ended || last.answeredAt === null) return
  const { certificate } = wanted.tls
  if (isDeepStrictEqual(certificate, tls.certificate)) return
  await writeCertificate(place.folder, certificate)
  await place.pulse.call('CONFIG', 'SET', ...certificateSettings(place.folder.certificate).flat())
  await place.save({ ...last, wish: { ...last.wish, tls: { ...tls, certificate } } })
}

/** By which a certificate is known in reports. */
export function nameOfCertificate(tls: WantedShard['tls']): string | null {
  return tls === null ? null : createHash('sha256').update(tls.certificate.cert).digest('hex')
}
