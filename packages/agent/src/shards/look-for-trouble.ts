import type { ProcessRecord, WantedRecord } from '../folder/shard-folder.ts'
import type { TroubleWatch } from '../folder/watch-trouble.ts'

/** Searches the log of a shard's running process for failures, without its secrets. */
export async function lookForTrouble({
  last,
  wanted,
  trouble,
}: {
  readonly last: ProcessRecord | null
  readonly wanted: WantedRecord
  readonly trouble: TroubleWatch
}): Promise<void> {
  if (!last?.identity || last.ended) return
  const secrets = [last.spec, wanted.spec].flatMap((spec) => [spec.adminPassword, spec.userPassword])
  await trouble.look({ ...last, secrets })
}
