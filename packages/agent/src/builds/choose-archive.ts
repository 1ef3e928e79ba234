/**
 * Picks Debian's archive out of what `apt-get --print-uris update` prints, one file to fetch a line:
 * `'http://somewhere/debian/dists/bookworm/InRelease' …`. That works before the first update, when apt knows no
 * labels yet. Null when no source is a Debian archive.
 *
 * Other archives have suites of Debian's names, too (a vendor's `bookworm main`). Debian's is the one with the
 * suites -updates or -backports beside the release, or else the one with "debian" in its path.
 */
export function chooseArchive(printedUris: string): string | null {
  const archives = readArchives(printedUris, (suite) => !suite.endsWith('-security'))
  const debian = [...archives].filter(
    ([, { suites, components }]) => components.has('main') && suites.some((suite) => releases.test(suite)),
  )
  const rank = ([uri, { suites }]: [string, Archive]) =>
    (suites.some((suite) => /-(updates|backports)$/.test(suite)) ? 0 : 2) +
    (/\/[^/]*debian[^/]*(\/|$)/.test(new URL(uri).pathname) ? 0 : 1)
  // The first line wins among equals: toSorted is stable, and apt prints the sources in their order.
  return debian.toSorted((a, b) => rank(a) - rank(b))[0]?.[0] ?? null
}

/** The same for Debian's security archive, whose suites end in -security. Null when no source is one. */
export function chooseSecurityArchive(printedUris: string): string | null {
  const found = readArchives(printedUris, (suite) => securitySuites.test(suite))
  const debian = [...found].filter(([, { components }]) => components.has('main'))
  return debian.find(([uri]) => /debian/.test(new URL(uri).pathname))?.[0] ?? debian[0]?.[0] ?? null
}

interface Archive {
  readonly suites: readonly string[]
  readonly components: ReadonlySet<string>
}

/** Releases that do not exist yet match, too: their archive is the same. */
const releases =
  /^(bullseye|bookworm|trixie|forky|duke|sid|oldoldstable|oldstable|stable|testing|unstable)(-updates|-backports)?$/

const securitySuites =
  /^(bullseye|bookworm|trixie|forky|duke|oldoldstable|oldstable|stable|testing)-security$/

function readArchives(text: string, isWanted: (suite: string) => boolean): ReadonlyMap<string, Archive> {
  const archives = new Map<string, Archive>()
  for (const line of text.split('\n')) {
    const match = /^'([a-z+]+:\/\/?[^']+?)\/dists\/([^'/]+)\/(?:([^'/]+)\/)?[^']*'/.exec(line)
    const [, uri = '', suite = '', component] = match ?? []
    if (!match || uri.startsWith('cdrom:') || !isWanted(suite)) continue
    const known = archives.get(uri) ?? { suites: [], components: new Set<string>() }
    archives.set(uri, {
      suites: [...known.suites, suite],
      components: new Set([...known.components, ...(component === undefined ? [] : [component])]),
    })
  }
  return archives
}
