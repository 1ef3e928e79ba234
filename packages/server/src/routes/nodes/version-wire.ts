import type { FoundBuild, Node } from '@fairlead/api'

/** A build as nodes are answered with it. */
export function versionToWire({
  flavour,
  version,
}: Pick<FoundBuild, 'flavour' | 'version'>): Node['supported_database_versions'][number] {
  return { db_type: flavour, version, redis_version: version.split('.', 2).join('.') }
}
