/** "8.1.1" → [8, 1, 1]; "8.1" → [8, 1]. Throws on anything else. */
export function parseVersion(text: string): readonly number[] {
  if (!/^\d+(\.\d+){0,2}$/.test(text)) throw new Error(`not a version: ${JSON.stringify(text)}`)
  return text.split('.').map(Number)
}

/** Negative if `a` is older than `b`, 0 if equal, positive if newer. A missing part counts as 0. */
export function compareVersions(a: string, b: string): number {
  const left = parseVersion(a)
  const right = parseVersion(b)
  for (const part of [0, 1, 2]) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** True if `version` begins with `wanted`: "8.1.1" matches "8", "8.1" and "8.1.1", not "8.11". */
export function matchesVersion(version: string, wanted: string): boolean {
  const have = parseVersion(version)
  return parseVersion(wanted).every((part, n) => have[n] === part)
}

export interface ProgramVersion {
  readonly flavour: 'valkey' | 'redis' | 'redict'
  readonly version: string
}

/**
 * Reads the output of `…-server --version`: "Valkey server v=8.1.1 sha=…", "Redis server v=7.0.15 sha=…".
 * Null for an unknown engine. (Not INFO: Valkey reports redis_version 7.2.4 for old clients.)
 */
export function readProgramVersion(text: string): ProgramVersion | null {
  const match = /^(valkey|redis|redict) server v=(\d+\.\d+\.\d+)\b/i.exec(text.trim())
  if (!match) return null
  return { flavour: match[1]?.toLowerCase() as ProgramVersion['flavour'], version: match[2] ?? '' }
}
