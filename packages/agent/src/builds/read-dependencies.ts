/**
 * Reads the output of `apt-cache depends --recurse`, and returns the sorted packages with the libraries that
 * the programs of `name` need. It follows only dependencies on libraries: others of a library (debconf, perl,
 * accounts) are for its installation, and nothing is installed here.
 */
export function readLibraries(name: string, depends: string): readonly string[] {
  const graph = readDependencies(depends)
  const found = new Set<string>()
  const open = [name]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const fresh = (graph.get(next) ?? []).filter((library) => isLibrary(library) && !found.has(library))
    for (const library of fresh) found.add(library)
    open.push(...fresh)
  }
  found.delete(name)
  return [...found].toSorted()
}

/** Redis 6.0 needs cjson and bit, from Debian's packages lua-*, for scripts. */
function isLibrary(name: string): boolean {
  return /^(lib|lua-|zlib1g)/.test(name)
}

/** Maps packages to dependencies. Of alternatives ("|Depends: a", "Depends: b") the first is used. */
function readDependencies(text: string): ReadonlyMap<string, readonly string[]> {
  const graph = new Map<string, string[]>()
  let current: string[] = []
  let isAlternative = false
  for (const line of text.split('\n')) {
    const heading = /^([a-z0-9][a-z0-9+.-]*)(:\S+)?$/.exec(line)?.[1]
    if (heading !== undefined) {
      current = graph.get(heading) ?? []
      graph.set(heading, current)
      continue
    }
    const [, bar, target] = /^ ([ |])(?:Pre)?Depends: ([a-z0-9][a-z0-9+.-]*)(?::\S+)?$/.exec(line) ?? []
    if (target === undefined) continue
    if (!isAlternative) current.push(target)
    isAlternative = bar === '|'
  }
  return graph
}
