/** Which engine builds a list has: those of this flavour, and of this version; "8.1" stands for each 8.1.x. */
export interface BuildFilter {
  readonly flavour?: string
  readonly version?: string
}

/** "8.1", "8.1.1" or "valkey-8.1", as lists are asked for it; all builds when it is absent. */
export function readBuildFilter(asked = ''): BuildFilter {
  const [, flavour, version] = /^(?:([a-z]+)-)?(.+)$/.exec(asked) ?? []
  return { ...(flavour !== undefined && { flavour }), ...(version !== undefined && { version }) }
}

/** Whether a build is among those of the filter. */
export function isOfBuild(
  build: { readonly flavour: string; readonly version: string },
  { flavour, version }: BuildFilter,
): boolean {
  if (flavour !== undefined && flavour !== build.flavour) return false
  return version === undefined || build.version === version || build.version.startsWith(`${version}.`)
}
