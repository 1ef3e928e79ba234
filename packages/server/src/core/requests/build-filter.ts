/** Filter of a list of engine builds, by flavour and version; "8.1" matches each 8.1.x. */
export interface BuildFilter {
  readonly flavour?: string
  readonly version?: string
}

/** Parses "8.1", "8.1.1" or "valkey-8.1"; if absent, all builds match. */
export function readBuildFilter(asked = ''): BuildFilter {
  const [, flavour, version] = /^(?:([a-z]+)-)?(.+)$/.exec(asked) ?? []
  return { ...(flavour !== undefined && { flavour }), ...(version !== undefined && { version }) }
}

/** True if a build matches the filter. */
export function isOfBuild(
  build: { readonly flavour: string; readonly version: string },
  { flavour, version }: BuildFilter,
): boolean {
  if (flavour !== undefined && flavour !== build.flavour) return false
  return version === undefined || build.version === version || build.version.startsWith(`${version}.`)
}
