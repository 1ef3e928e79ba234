import { isDeepStrictEqual } from 'node:util'
import type { ShardSpec } from '@fairlead/api'
import { certificateSettings } from '../engine/engine-config.ts'
import { writeCertificate } from '../engine/shard-certificate.ts'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { ShardWorkplace } from './shard-workplace.ts'

/** Makes a running process use the wanted certificate. Existing connections stay unchanged. */
export async function renewCertificate(
  place: Pick<ShardWorkplace, 'folder' | 'probe' | 'save'>,
  wanted: ShardSpec,
  last: ProcessRecord | null,
): Promise<void> {
  const tls = last?.spec.tls ?? null
  if (last === null || tls === null || wanted.tls === null || last.ended || last.answeredAt === null) return
  const { certificate } = wanted.tls
  if (isDeepStrictEqual(certificate, tls.certificate)) return
  await writeCertificate(place.folder, certificate)
  await place.probe.call('CONFIG', 'SET', ...certificateSettings(place.folder.certificate).flat())
  await place.save({ ...last, spec: { ...last.spec, tls: { ...tls, certificate } } })
}
