import { ARRAY, createReplyScanner, type ParsedReply, parseReply, scanReply } from '@fairlead/engine'
import { capitalsOf } from '../remembered/command.ts'
import { findWord, wordAt } from './read-words.ts'

/** Position of a command's first key. The engine checks all other keys and refuses those of other slots. */
export interface CommandRule {
  /** Index of the first key among the words (0 is the name) if it is fixed; otherwise 0. */
  readonly index: number
  /** Positions to search, in order; the first one with a key counts. */
  readonly places: readonly KeyPlace[]
  /** Map from subcommand (capitals) to rule. */
  readonly subcommands: ReadonlyMap<string, CommandRule>
}

/** A position in the engines' terms: where to begin, and if there is a number of keys instead of a key. */
export interface KeyPlace {
  readonly begin: { readonly index: number } | { readonly keyword: string; readonly from: number }
  readonly counted: { readonly count: number; readonly first: number } | null
}

/** Map from command (capitals) to rule; `other` for all other commands. */
export interface CommandRules {
  readonly known: ReadonlyMap<string, CommandRule>
  readonly other: CommandRule
}

/** Returns the first key, null if there is none, or `more` if it may not have arrived (not `isWhole`). */
export function findFirstKey(rule: CommandRule, request: Buffer, isWhole: boolean): Buffer | null | 'more' {
  if (rule.index > 0) return wordAt(request, rule.index) ?? (isWhole ? null : 'more')
  if (rule.subcommands.size > 0) {
    const name = wordAt(request, 1)
    if (name === undefined) return isWhole ? null : 'more'
    const sub = rule.subcommands.get(capitalsOf(name))
    if (sub !== undefined) return findFirstKey(sub, request, isWhole)
  }
  for (const place of rule.places) {
    const key = keyAt(place, request, isWhole)
    // MIGRATE has an empty key if its keys follow elsewhere.
    if (key === 'more' || (key !== null && key.length > 0)) return key
  }
  return null
}

function keyAt({ begin, counted }: KeyPlace, request: Buffer, isWhole: boolean) {
  const at = 'index' in begin ? begin.index : behindKeyword(begin, request, isWhole)
  const missing = isWhole ? null : 'more'
  if (at < 0) return missing
  if (counted === null) return wordAt(request, at) ?? missing
  const count = wordAt(request, at + counted.count)
  if (count === undefined) return missing
  return Number(count.toString('latin1')) > 0 ? (wordAt(request, at + counted.first) ?? missing) : null
}

function behindKeyword(
  { keyword, from }: { readonly keyword: string; readonly from: number },
  request: Buffer,
  isWhole: boolean,
): number {
  if (from < 0 && !isWhole) return -1
  const at = findWord(request, [keyword], from)
  return at < 0 ? -1 : at + 1
}

/**
 * Reads the answer to COMMAND; throws if it is invalid. It has 300 KB and takes some 10 ms: `rest` is called
 * between two commands and may wait for the next turn.
 */
export async function readCommandRules(
  answer: Buffer,
  rest: () => Promise<void> = async () => undefined,
): Promise<CommandRules> {
  if (answer[0] !== ARRAY) throw new Error('the engine did not say which commands it has')
  const known = new Map<string, CommandRule>()
  const scanner = createReplyScanner()
  for (let from = answer.indexOf('\n') + 1; from < answer.length; ) {
    const end = scanReply(scanner, answer, from)
    if (end < 0) throw new Error('the engine did not say all of the commands it has')
    for (const [name, rule] of readAll([parseReply(answer.subarray(from, end))])) known.set(name, rule)
    from = end
    await rest()
  }
  return { known, other: keyless }
}

function readAll(commands: readonly ParsedReply[]): ReadonlyMap<string, CommandRule> {
  return new Map(
    commands.filter(isList).map((command) => {
      // A subcommand has its full name here: object|encoding.
      const name = String(command[0]).toUpperCase().split('|').at(-1) ?? ''
      return [name, readRule(command)]
    }),
  )
}

function readRule(command: readonly ParsedReply[]): CommandRule {
  const [, , , first = 0, , , , , specs = [], subs = []] = command
  const subcommands = isList(subs) ? readAll(subs) : noRules
  const places = isList(specs) ? specs.flatMap(readPlace) : []
  if (places.length === 0 && Number(first) > 0) places.push(at(Number(first)))
  if (places.length === 0 && saysNoPlaces(command)) return presumedRule(String(command[0]).toUpperCase())
  return makeRule(places, subcommands)
}

/** True if the engine, before 7.0, reports only the fact of keys (EVAL, XREAD and similar). */
function saysNoPlaces(command: readonly ParsedReply[]): boolean {
  const [, , flags = []] = command
  return command.length < FIELDS_SINCE_7 && isList(flags) && flags.map(String).includes('movablekeys')
}

/** Name, arity, flags, first, last and step, categories; then the fields that 7.0 added. */
const FIELDS_SINCE_7 = 10

function presumedRule(name: string): CommandRule {
  return presumedRules.known.get(name) ?? presumedRules.other
}

function readPlace(spec: ParsedReply): KeyPlace[] {
  const search = fieldsOf(fieldsOf(spec)['begin_search'])
  const found = fieldsOf(fieldsOf(spec)['find_keys'])
  const where = fieldsOf(search['spec'])
  const keys = fieldsOf(found['spec'])
  const counted =
    found['type'] === 'keynum' ? { count: Number(keys['keynumidx']), first: Number(keys['firstkey']) } : null
  if (search['type'] === 'index') return [{ begin: { index: Number(where['index']) }, counted }]
  if (search['type'] !== 'keyword') return []
  const keyword = String(where['keyword']).toUpperCase()
  return [{ begin: { keyword, from: Number(where['startfrom']) }, counted }]
}

/** Reads a map as engines encode it in either protocol. */
function fieldsOf(list: ParsedReply | undefined): Readonly<Record<string, ParsedReply>> {
  if (list === undefined || !isList(list)) return {}
  const pairs = list.flatMap((name, n) => (n % 2 === 0 ? [[String(name), list[n + 1] ?? null] as const] : []))
  return Object.fromEntries(pairs)
}

function isList(reply: ParsedReply): reply is readonly ParsedReply[] {
  return Array.isArray(reply)
}

function makeRule(places: readonly KeyPlace[], subcommands = noRules): CommandRule {
  const [place] = places
  const isPlain = places.length === 1 && subcommands.size === 0 && place?.counted === null
  return { index: isPlain && 'index' in place.begin ? place.begin.index : 0, places, subcommands }
}

function at(index: number): KeyPlace {
  return { begin: { index }, counted: null }
}

function counted(index: number): KeyPlace {
  return { begin: { index }, counted: { count: 0, first: 1 } }
}

const noRules: ReadonlyMap<string, CommandRule> = new Map()
const keyless = makeRule([])

/** Standard table, until a client has the right to use COMMAND. If it is wrong, the engine answers MOVED. */
export const presumedRules: CommandRules = {
  known: new Map(
    [
      [
        keyless,
        'ACL AUTH BGREWRITEAOF BGSAVE CLIENT COMMAND CONFIG DEBUG ECHO FUNCTION HELLO INFO LASTSAVE LATENCY LOLWUT MODULE' +
          ' MONITOR PING PSUBSCRIBE PUBLISH PUBSUB PUNSUBSCRIBE ROLE SAVE SCRIPT SLOWLOG SUBSCRIBE SWAPDB TIME UNSUBSCRIBE',
      ] as const,
      [makeRule([at(2)]), 'BITOP MEMORY OBJECT XGROUP XINFO'] as const,
      [makeRule([counted(1)]), 'LMPOP SINTERCARD ZDIFF ZINTER ZINTERCARD ZMPOP ZUNION'] as const,
      [makeRule([counted(2)]), 'BLMPOP BZMPOP EVAL EVALSHA EVALSHA_RO EVAL_RO FCALL FCALL_RO'] as const,
      [makeRule([{ begin: { keyword: 'STREAMS', from: 1 }, counted: null }]), 'XREAD'] as const,
      // Its group and consumer may have any name.
      [makeRule([{ begin: { keyword: 'STREAMS', from: 4 }, counted: null }]), 'XREADGROUP'] as const,
    ].flatMap(([rule, names]) => names.split(' ').map((name) => [name, rule] as const)),
  ),
  other: makeRule([at(1)]),
}
