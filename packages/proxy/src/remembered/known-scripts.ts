import { hash } from 'node:crypto'
import type { TakenScripts } from '@fairlead/api/of-proxies'
import { createBacklog } from './backlog.ts'
import { type Command, wordAt } from './command.ts'

/**
 * The scripts that clients of an endpoint have loaded into their engines. No engine replicates them, so the
 * handover gives them to the next primary. Client libraries load a script once for each connection, which
 * survives the handover: they would get NOSCRIPT.
 */
export interface KnownScripts {
  /** The engine has executed the command. */
  learn(command: Command): void
  /**
   * The engine has executed these in a transaction, of which so many `bytes` are kept. There may be 100,000 scripts, so each is learnt by a call of
   * `learnNext`: true if calls have to begin now.
   */
  learnLater(commands: readonly Command[], bytes: number): boolean
  /** Learns the next one of those commands. False: none is left. */
  learnNext(): boolean
  /** A client is about to use a script: it counts as used last. Answers the script, if it is known. */
  use(command: Command): Script | undefined
  /** The engine has executed the script: it has it, although clients may have flushed scripts in between. */
  keep(script: Script): void
  /** A client of another thread has flushed the scripts. */
  forget(): void
  /**
   * The scripts that an engine (its address) has not been told of yet, or all; from then on they count as told. `flushed`: clients have
   * flushed scripts since, and the engine must do so first.
   */
  take(engine: string, all: boolean): TakenScripts
}

/** The most bytes of all texts of an endpoint; each text counts as more than its length, because short ones have a cost, too. */
export const MOST_SCRIPT_BYTES = 4 * 1024 * 1024
const SCRIPT_COSTS = 256
/** A longer one is not kept: of requests outside of transactions no more is read, and its hash takes milliseconds. */
const LONGEST_SCRIPT_BYTES = 1024 * 1024
/** How much may wait to be learnt: two of the largest transactions. Of further ones the scripts are not learnt. */
const MOST_UNLEARNT_BYTES = 32 * 1024 * 1024
/** How many engines are remembered: a replacement for each group of the largest database, and a few more. */
const MOST_ENGINES = 256

/** A script of clients; `sha` is the SHA-1 that EVALSHA names it by, `number` rises with each new one. */
export interface Script {
  /** As latin1, so that no byte is lost. */
  readonly text: string
  readonly sha: string
  readonly number: number
}

/** `onForget` is called when a client has flushed them. */
export function createKnownScripts({
  mostBytes = MOST_SCRIPT_BYTES,
  onForget = () => undefined,
}: {
  readonly mostBytes?: number
  readonly onForget?: () => void
} = {}): KnownScripts {
  const shelf = createShelf(mostBytes)
  /** By engine, the number of the last script that it has been told of. */
  const told = new Map<string, number>()
  /** What transactions have executed, and what came after that. */
  const unlearnt = createBacklog<Command | Script>(MOST_UNLEARNT_BYTES)
  let last = 0
  let flushedAt = 0

  const add = (text: string, sha: string): void => {
    if (costOf(text) <= mostBytes && shelf.use(sha) === undefined) shelf.put({ text, sha, number: ++last })
  }
  const forget = (): void => {
    shelf.clear()
    flushedAt = ++last
  }
  const learnNow = (one: Command | Script): void => {
    const text = textOf(one)
    if (text !== undefined) add(text.toString('latin1'), 'sha' in one ? one.sha : hash('sha1', text, 'hex'))
    else if (isFlush(one)) {
      forget()
      onForget()
    }
  }
  const learnNext = (): boolean => {
    const next = unlearnt.next()
    if (next !== undefined) learnNow(next)
    return !unlearnt.isEmpty
  }
  const learn = (one: Command | Script): void => {
    if (unlearnt.isEmpty) learnNow(one)
    else unlearnt.add([one], SCRIPT_COSTS + (textOf(one)?.length ?? 0))
  }
  return {
    ...{ learn, keep: learn, learnNext, forget },
    learnLater(commands, bytes) {
      const isIdle = unlearnt.isEmpty
      unlearnt.add(commands, bytes)
      return isIdle && !unlearnt.isEmpty
    },
    use: (command) => useOf(shelf, command),
    take(engine, all) {
      while (learnNext());
      const from = noteTold(told, engine, last)
      const scripts = shelf.all().filter(({ number }) => all || number > from)
      return {
        flushed: flushedAt > from,
        scripts: scripts.map(({ text }) => Buffer.from(text, 'latin1').toString('base64')),
      }
    },
  }
}

function useOf(shelf: Shelf, { name, args: [first] }: Command): Script | undefined {
  if (first === undefined || first.length > LONGEST_SCRIPT_BYTES) return undefined
  if (byHash.has(name)) return shelf.use(first.toString('latin1').toLowerCase())
  return byText.has(name) ? shelf.use(shelf.hashOf(first.toString('latin1'))) : undefined
}

/** The engine is told of all scripts up to the number `last`. Answers up to which it had been told before. */
function noteTold(told: Map<string, number>, engine: string, last: number): number {
  const from = told.get(engine) ?? 0
  told.delete(engine)
  told.set(engine, last)
  const [oldest] = told.keys()
  if (told.size > MOST_ENGINES && oldest !== undefined) told.delete(oldest)
  return from
}

interface Shelf {
  /** The script of this hash, if there is one; it counts as used last. */
  use(sha: string | undefined): Script | undefined
  /** The hash of a known text: looking it up costs less than computing it. */
  hashOf(text: string): string | undefined
  /** Adds a new script. Scripts that were not used for the longest time make room. */
  put(script: Script): void
  all(): readonly Script[]
  clear(): void
}

/** Scripts, in `mostBytes` at most. */
function createShelf(mostBytes: number): Shelf {
  /** By hash, the one that was used last at the end. */
  const known = new Map<string, Script>()
  const hashes = new Map<string, string>()
  let bytes = 0
  return {
    use(sha = '') {
      const script = known.get(sha)
      if (script === undefined) return undefined
      known.delete(sha)
      known.set(sha, script)
      return script
    },
    hashOf: (text) => hashes.get(text),
    put(script) {
      known.set(script.sha, script)
      hashes.set(script.text, script.sha)
      bytes += costOf(script.text)
      for (const [oldest, { text }] of known) {
        if (bytes <= mostBytes) break
        known.delete(oldest)
        hashes.delete(text)
        bytes -= costOf(text)
      }
    },
    all: () => [...known.values()],
    clear() {
      known.clear()
      hashes.clear()
      bytes = 0
    },
  }
}

function costOf(text: string): number {
  return text.length + SCRIPT_COSTS
}

const byText: ReadonlySet<string> = new Set(['EVAL', 'EVAL_RO'])
const byHash: ReadonlySet<string> = new Set(['EVALSHA', 'EVALSHA_RO'])

/** Commands that are looked at for scripts, and how many of their arguments are. */
export const scriptCommands: Readonly<Record<string, number>> = {
  ...Object.fromEntries([...byText, ...byHash].map((name) => [name, 1])),
  SCRIPT: 2,
}

function isFlush(one: Command | Script): boolean {
  return 'args' in one && one.name === 'SCRIPT' && wordAt(one, 0) === 'FLUSH'
}

function textOf(one: Command | Script): Buffer | string | undefined {
  if ('sha' in one) return one.text
  const { name, args, cutShort } = one
  // Then it is not known which of its arguments were kept.
  if (cutShort) return undefined
  const text = byText.has(name)
    ? args[0]
    : name === 'SCRIPT' && wordAt(one, 0) === 'LOAD'
      ? args[1]
      : undefined
  return (text?.length ?? 0) > LONGEST_SCRIPT_BYTES ? undefined : text
}
