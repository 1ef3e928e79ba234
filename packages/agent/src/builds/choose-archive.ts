/**
 * Chooses Debian's archive from the output of `apt-get --print-uris update`, one file per line:
 * `'http://somewhere/debian/dists/bookworm/InRelease' …`. It works before the first update; null if no source
 * is a Debian archive. Other archives (a vendor's `bookworm main`) also have suites with Debian's names, but
 * Debian's has -updates or -backports, or else "debian" in its path.
 */
export function chooseArchive(printedUris: string): string | null {
  const archives = readArchives(printedUris, (suite) => !suite.endsWith('-security'))
  const debian = [...archives].filter(
    ([, { suites, components }]) => components.has('main') && suites.some((suite) => releases.test(suite)),
  )
  const rank = ([uri, { suites }]: [string, Archive]) =>
    (suites.some((suite) => /-(updates|backports)$/.test(suite)) ? 0 : 2) +
    (/\/[^/]*debian[^/]*(\/|$)/.test(new URL(uri).pathname) ? 0 : 1)
  // Among equals the first line wins: toSorted is stable, and apt prints the sources in their order.
  return debian.toSorted((a, b) => rank(a) - rank(b))[0]?.[0] ?? null
}

/** Chooses Debian's security archive, whose suites end in -security. Null if no source is one. */
export function chooseSecurityArchive(printedUris: string): string | null {
  const found = readArchives(printedUris, (suite) => securitySuites.test(suite))
  const debian = [...found].filter(([, { components }]) => components.has('main'))
  return debian.find(([uri]) => /debian/.test(new URL(uri).pathname))?.[0] ?? debian[0]?.[0] ?? null
}

interface Archive {
  readonly suites: readonly string[]
  readonly components: ReadonlySet<string>
}

/** Future releases match, too: they will be in the same archive. */
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
