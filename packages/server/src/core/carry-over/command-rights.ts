/** Commands of an engine build, from its COMMAND; subcommands as "client|id". */
export interface CommandTable {
  readonly commands: ReadonlySet<string>
  /** Map from category, without @, to its commands. */
  readonly categories: ReadonlyMap<string, ReadonlySet<string>>
  /** Map from command to its subcommands with the full name. Empty before Redis 7. */
  readonly subcommands: ReadonlyMap<string, readonly string[]>
}

/** Effect of the command words of an ACL rule on one build. */
export interface CommandRights {
  /** True if commands are allowed that the build does not have yet (of a module loaded later). */
  readonly others: boolean
  readonly allowed: ReadonlySet<string>
  /** Forbidden commands that are allowed with this first argument, as "select|0". */
  readonly firstArguments: ReadonlySet<string>
}

/** Creates the table from an engine's `COMMAND` and `ACL CAT`. */
export function commandTable(
  all: readonly { readonly name: string; readonly categories: readonly string[] }[],
): CommandTable {
  const categories = Map.groupBy(
    all.flatMap(({ name, categories: of }) => of.map((category) => ({ name, category }))),
    ({ category }) => category,
  )
  const names = all.map(({ name }) => name)
  return {
    commands: new Set(names),
    categories: new Map(
      [...categories].map(([category, members]) => [category, new Set(members.map(({ name }) => name))]),
    ),
    subcommands: Map.groupBy(
      names.filter((name) => name.includes('|')),
      containerOf,
    ),
  }
}

/** Reads command words ("+@all", "-config|set", "+select|0") from left to right, like an engine. */
export function commandRights(words: readonly string[], table: CommandTable): CommandRights {
  const allowed = new Set<string>()
  const firstArguments = new Map<string, Set<string>>()
  let others = false
  // The last of equal words decides. A lying engine may repeat each a hundred thousand times.
  for (const word of [...new Set(words.toReversed())].toReversed()) {
    const grants = word.startsWith('+')
    const subject = word.slice(1).toLowerCase()
    if (subject === '@all') others = grants
    if (isFirstArgument(subject, table)) {
      const container = containerOf(subject)
      if (grants)
        firstArguments.set(container, (firstArguments.get(container) ?? new Set<string>()).add(subject))
      continue
    }
    for (const name of namedBy(subject, table)) {
      if (grants) allowed.add(name)
      else allowed.delete(name)
      firstArguments.delete(name)
    }
  }
  const open = [...firstArguments].flatMap(([name, pairs]) => (allowed.has(name) ? [] : [...pairs]))
  return { others, allowed, firstArguments: new Set(open) }
}

/** The same rights in the words of another build. */
export interface TranslatedCommands {
  readonly words: readonly string[]
  /** Commands granted by name that do not exist there. */
  readonly lost: readonly string[]
  /** Commands allowed here and forbidden there, or vice versa, because no words express the rule. */
  readonly unsayable: readonly string[]
}

/**
 * Drops words that build `to` does not know, and corrects by name the commands that its categories treat
 * differently. For new commands its categories decide, but no new subcommand is allowed of a command without
 * any allowed subcommand.
 */
export function translateCommands(
  words: readonly string[],
  from: CommandTable,
  to: CommandTable,
): TranslatedCommands {
  const wanted = commandRights(words, from)
  const allows = (name: string) => isAllowed(name, wanted, from)
  const known = words.filter((word) => isKnown(word, to))
  const closed = closeFamilies(known, from, to, allows)
  const got = commandRights([...known, ...closed], to)
  const mended = [...to.commands]
    .filter((name) => !to.subcommands.has(name) && knows(from, name))
    .filter((name) => allowsWhole(name, from, allows) !== got.allowed.has(name))
    .toSorted()
    .map((name) => `${got.allowed.has(name) ? '-' : '+'}${name}`)
  const withArgument = [...wanted.firstArguments]
    .filter((pair) => isFirstArgument(pair, to) && !got.firstArguments.has(pair))
    .toSorted()
    .map((pair) => `+${pair}`)
  const inPart = grantedInPart(from, to, allows)
  const translated = [...known, ...closed, ...mended, ...withArgument, ...inPart]
  const result = commandRights(translated, to)
  return {
    words: translated,
    lost: grantedByName(words)
      .filter((name) => knows(from, name) && allows(name) && !knows(to, name))
      .toSorted(),
    unsayable: [...from.commands]
      .filter((name) => !from.subcommands.has(name) && !to.subcommands.has(name) && knows(to, name))
      .filter((name) => allows(name) !== isAllowed(name, result, to))
      .toSorted(),
  }
}

/** Returns "-client" for each command with nothing allowed here, and something there. */
function closeFamilies(
  words: readonly string[],
  from: CommandTable,
  to: CommandTable,
  allows: (name: string) => boolean,
): readonly string[] {
  const { allowed } = commandRights(words, to)
  return [...from.subcommands]
    .filter(
      ([name, members]) => !members.some(allows) && to.subcommands.get(name)?.some((m) => allowed.has(m)),
    )
    .map(([name]) => `-${name}`)
    .toSorted()
}

/** True if all subcommands are allowed; for a command with subcommands, the bare name proves nothing. */
function allowsWhole(name: string, from: CommandTable, allows: (name: string) => boolean): boolean {
  return from.subcommands.get(name)?.every(allows) ?? allows(name)
}

/**
 * Returns "+client|id" for each allowed subcommand of a partly allowed command, for a build without
 * subcommands (as first argument).
 */
function grantedInPart(
  from: CommandTable,
  to: CommandTable,
  allows: (name: string) => boolean,
): readonly string[] {
  return [...from.subcommands]
    .filter(
      ([name]) => to.commands.has(name) && !to.subcommands.has(name) && !allowsWhole(name, from, allows),
    )
    .flatMap(([, members]) => members.filter(allows).map((member) => `+${member}`))
    .toSorted()
}

function grantedByName(words: readonly string[]): readonly string[] {
  const named = words.filter((word) => word.startsWith('+') && !word.startsWith('+@'))
  return [...new Set(named.map((word) => word.slice(1).toLowerCase()))]
}

/** Returns all commands that a word's subject means; none if the build does not know it. */
function namedBy(subject: string, { commands, categories, subcommands }: CommandTable): Iterable<string> {
  if (subject === '@all') return commands
  if (subject.startsWith('@')) return categories.get(subject.slice(1)) ?? []
  return commands.has(subject) ? [subject, ...(subcommands.get(subject) ?? [])] : []
}

function isKnown(word: string, table: CommandTable): boolean {
  const subject = word.slice(1).toLowerCase()
  if (subject === '@all') return true
  if (subject.startsWith('@')) return table.categories.has(subject.slice(1))
  return table.commands.has(subject) || (word.startsWith('+') && isFirstArgument(subject, table))
}

/** True if "select|0" is a command with a first argument, not a subcommand. */
function isFirstArgument(subject: string, { commands, subcommands }: CommandTable): boolean {
  const container = containerOf(subject)
  return container !== subject && commands.has(container) && !subcommands.has(container)
}

/** True if rules of this build can name the command; before Redis 7 also a subcommand as a first argument. */
function knows(table: CommandTable, name: string): boolean {
  return table.commands.has(name) || isFirstArgument(name, table)
}

/** True if these rights allow the command, or the subcommand "client|id", on a build with this table. */
export function isAllowed(name: string, rights: CommandRights, table: CommandTable): boolean {
  if (table.commands.has(name)) return rights.allowed.has(name)
  return rights.allowed.has(containerOf(name)) || rights.firstArguments.has(name)
}

function containerOf(name: string): string {
  return name.split('|')[0] ?? name
}
