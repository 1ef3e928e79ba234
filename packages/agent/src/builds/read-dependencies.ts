/**
 * Which packages hold the libraries that a program of `name` needs, from what `apt-cache depends --recurse` prints
 * for it. Followed are dependencies on libraries only, from library to library: what a library wants besides
 * (debconf, perl, accounts) is for installing it, and nothing is installed here. Sorted; without `name` itself.
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

/** redis 6.0 takes cjson and bit for its scripts from Debian's packages lua-*. */
function isLibrary(name: string): boolean {
  return /^(lib|lua-|zlib1g)/.test(name)
}

/** Package → what it depends on. Of alternatives ("|Depends: a", "Depends: b") the first is taken. */
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
