import { type Hole, holes } from './known-holes-table.ts'
import { compareVersions } from './version.ts'

/** A build, as far as it matters which holes it has. */
export interface JudgedBuild {
  readonly flavour: string
  readonly version: string
  /** The version of the package that it came from, "5:7.0.15-1~deb12u7"; absent when that is not known. */
  readonly package?: string | undefined
}

/** A hole of a build, as answers and reports name it. */
export type KnownHole = Pick<Hole, 'id' | 'what' | 'reach'>

/**
 * The holes of the table that this build has, newest first. A distribution fixes an old version without changing its number, so a
 * build whose Debian package is known is judged by that, too; packages of Ubuntu are not judged. Throws on an invalid version.
 */
export function knownHoles(build: JudgedBuild): readonly KnownHole[] {
  if (build.package?.includes('ubuntu')) return []
  return holes
    .filter((hole) => isAffected(hole, build) && !isMended(hole, build) && !isMendedByDebian(hole, build))
    .map(({ id, what, reach }) => ({ id, what, reach }))
}

/**
 * Holes through which a client of a database can make the engine run code of its own: from then on, the
 * engine obeys the attacker.
 */
export function runsForeignCode({ reach }: KnownHole): boolean {
  return reach === 'code'
}

function isAffected({ upstream, since = {} }: Hole, { flavour, version }: JudgedBuild): boolean {
  const from = since[flavour]
  return flavour in upstream && (from === undefined || compareVersions(version, from) >= 0)
}

/** A line (8.1) that the table does not name has no release with the fix, unless it is younger than all that it names. */
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

/** "1~deb12u10" is at least "1~deb12u7", "3+deb13u1" at least "3". Revisions of another release are not compared. */
function isAtLeast(revision: string, fix: string): boolean {
  const [, before, update] = /^(.+deb\d+u)(\d+)$/.exec(fix) ?? []
  if (before === undefined) return !revision.includes('~') && Number.parseInt(revision, 10) >= Number(fix)
  return revision.startsWith(before) && Number.parseInt(revision.slice(before.length), 10) >= Number(update)
}
