import { type Hole, holes } from './known-holes-table.ts'
import { compareVersions } from './version.ts'

/** Properties of a build that determine its vulnerabilities. */
export interface JudgedBuild {
  readonly flavour: string
  readonly version: string
  /** Version of its package, "5:7.0.15-1~deb12u7"; absent if unknown. */
  readonly package?: string | undefined
}

/** A vulnerability of a build, as shown in answers and reports. */
export type KnownHole = Pick<Hole, 'id' | 'what' | 'reach'>

/**
 * Returns this build's vulnerabilities from the table, newest first. A distribution fixes an old version
 * without changing its number, so a known Debian package counts, too; packages of Ubuntu are not judged.
 * Throws on an invalid version.
 */
export function knownHoles(build: JudgedBuild): readonly KnownHole[] {
  if (build.package?.includes('ubuntu')) return []
  return holes
    .filter((hole) => isAffected(hole, build) && !isMended(hole, build) && !isMendedByDebian(hole, build))
    .map(({ id, what, reach }) => ({ id, what, reach }))
}

/** True if a client of a database can execute code in the engine, which then obeys the attacker. */
export function runsForeignCode({ reach }: KnownHole): boolean {
  return reach === 'code'
}

function isAffected({ upstream, since = {} }: Hole, { flavour, version }: JudgedBuild): boolean {
  const from = since[flavour]
  return flavour in upstream && (from === undefined || compareVersions(version, from) >= 0)
}

/** A line (8.1) that the table does not name has no fixed release, unless it is newer than all named ones. */
function isMended({ upstream }: Hole, { flavour, version }: JudgedBuild): boolean {
  const mended = upstream[flavour] ?? []
  const ofLine = mended.find((one) => lineOf(one) === lineOf(version))
  if (ofLine !== undefined) return !ofLine.endsWith('.x') && compareVersions(version, ofLine) >= 0
  return mended.every((one) => compareVersions(lineOf(version), lineOf(one)) > 0)
}

function lineOf(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

function isMendedByDebian({ debian }: Hole, build: JudgedBuild): boolean {
  const revision = build.package?.split('-').at(-1)
  if (revision === undefined) return false
  const name = `${build.flavour} ${build.version} `
  return debian.some((fix) => fix.startsWith(name) && isAtLeast(revision, fix.slice(name.length)))
}

/** "1~deb12u10" is at least "1~deb12u7", "3+deb13u1" at least "3". Other releases are not compared. */
function isAtLeast(revision: string, fix: string): boolean {
  const [, before, update] = /^(.+deb\d+u)(\d+)$/.exec(fix) ?? []
  if (before === undefined) return !revision.includes('~') && Number.parseInt(revision, 10) >= Number(fix)
  return revision.startsWith(before) && Number.parseInt(revision.slice(before.length), 10) >= Number(update)
}
