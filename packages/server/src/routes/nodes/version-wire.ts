import type { FoundBuild, Node } from '@fairlead/api'

/** A build in answers about nodes. */
export function versionToWire({
  flavour,
  version,
}: Pick<FoundBuild, 'flavour' | 'version'>): Node['supported_database_versions'][number] {
  return { db_type: flavour, version, redis_version: version.split('.', 2).join('.') }
}
