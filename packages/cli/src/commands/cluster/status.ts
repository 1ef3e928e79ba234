import type { Action, Database, LogEntry, Node } from '@fairlead/api'
import { ApiError, actionPhases, isLoss, lossWords } from '@fairlead/api/lean'
import type { Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { type Cell, drawTable, widthOf } from '../../output/draw-table.ts'
import { foldText } from '../../output/fold-text.ts'
import { isForPeople } from '../../output/forms.ts'
import { type Column, printList, printOne } from '../../output/print-answer.ts'
import { showSeconds, showTime } from '../../output/show-quantity.ts'
import { inOneLine } from '../../output/without-orders.ts'
import { nameOrUid } from '../find-database.ts'
import { nextOf } from '../next-of.ts'

/** Maximum number of lines of each kind on a terminal: about ten in total. */
const MOST = { needs_you: 5, moves: 3, happened: 3 } as const

/** Prints what needs a person, what is in progress, and the number of outdated databases. */
export async function showStatus(context: Context): Promise<void> {
  const { terminal, answer } = context
  const row = await readStatus(context)
  const isTable = isForPeople(answer.form)
  if (answer.form === 'name') {
    printList(terminal, { rows: row.needs_you, columns: [], nameOf: ({ name }) => name }, answer)
  } else if (!isTable || answer.columns !== undefined || !terminal.outIsTerminal) {
    printOne(terminal, { row, columns: facts, nameOf: ({ server }) => server }, answer)
    if (!isTable || answer.columns !== undefined) return
    for (const kind of ['needs_you', 'moves', 'happened'] as const)
      for (const { name, state, why, next } of row[kind])
        terminal.out(`${[kind, name, state, why, next.join('; or ')].map(inOneLine).join('\t')}\n`)
  } else draw(context, row)
}

const facts: readonly Column<Status>[] = [
  { name: 'server', value: ({ server }) => server },
  { name: 'user', value: ({ user }) => user },
  { name: 'until', value: ({ until }) => until },
  { name: 'nodes', value: ({ nodes }) => nodes?.total ?? null },
  { name: 'nodes_active', value: ({ nodes }) => nodes?.active ?? null },
  { name: 'databases', value: ({ databases }) => databases?.total ?? null },
  { name: 'behind', value: ({ databases }) => databases?.behind ?? null },
]

function draw({ terminal }: Context, status: Status): void {
  const { needs_you, moves, happened } = status
  terminal.out(`${headOf(status, (time) => showTime(Date.parse(time), terminal))}\n`)
  if (needs_you.length === 0) terminal.outPainted(`${terminal.paint('good', 'Nothing needs you.')}\n`)
  const red = (text: string) => terminal.paint('bad', text)
  const lines = [
    ...cellsOf('NEEDS YOU', needs_you, MOST.needs_you, red),
    ...cellsOf('MOVES', withoutNext(moves), MOST.moves),
    ...cellsOf('HAPPENED', happened, MOST.happened),
  ]
  if (lines.length === 0) return
  const columns = terminal.columns()
  const isWide = lines.every((line) => sum(line) <= columns)
  if (isWide) terminal.outPainted(drawTable(lines, columns))
  // The next command is never cut.
  else for (const line of lines) terminal.outPainted(drawNarrow(line, columns))
}

/** A gap at which commands are put on separate lines of a narrow terminal. */
const BETWEEN = '    '

function withoutNext(lines: readonly StatusLine[]): readonly StatusLine[] {
  return lines.map((line) => ({ ...line, next: [] }))
}

function headOf(
  { server, profile, user, until, nodes, databases }: Status,
  show: (time: string) => string,
): string {
  const isWhole = nodes?.total === nodes?.active
  return [
    ...(profile === null ? [] : [profile]),
    new URL(server).host,
    ...(nodes === null
      ? []
      : [
          `${isWhole ? '' : `${nodes.active} of `}${count(nodes.total, 'node')} ${isWhole ? 'ok' : 'answer'}`,
        ]),
    ...(databases === null ? [] : [`${count(databases.total, 'database')}, ${databases.behind} behind`]),
    `signed in as ${user}${until === null ? '' : ` until ${show(until)}`}`,
  ].join('  ')
}

function cellsOf(
  title: string,
  lines: readonly StatusLine[],
  most: number,
  paint?: (text: string) => string,
): readonly (readonly Cell[])[] {
  const shown = lines.length > most ? lines.slice(0, most - 1) : lines
  const left = lines.length - shown.length
  const rows = shown.map((line, n): readonly Cell[] => [
    { text: n === 0 ? title : '', paint },
    ...[line.name, stateOf(line), line.why, line.next.join(BETWEEN)].map((text) => ({
      text: inOneLine(text),
    })),
  ])
  const rest = ['', `… and ${left} more`, '', '', 'fairlead status -o jsonl'].map((text) => ({ text }))
  return left === 0 ? rows : [...rows, rest]
}

function stateOf({ state, since_ms }: StatusLine): string {
  return since_ms === null ? state : `${state}, ${showSeconds(Math.max(0, Date.now() - since_ms) / 1_000)}`
}

function drawNarrow(line: readonly Cell[], columns: number): string {
  const [title, name, state, why, next] = line
  const first = drawTable([[title, name, state].map((cell) => padded(cell))], columns)
  const below = [why, next].filter((cell) => cell !== undefined && cell.text !== '')
  return `${first}${foldText(below.map((cell) => `  ${cell?.text}\n`).join(''), columns)}`
}

const padded = (cell: Cell | undefined): Cell => cell ?? { text: '' }

function sum(line: readonly Cell[]): number {
  return line.reduce((all, { text }) => all + widthOf(text), 2 * line.length)
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

/** One line of the cluster's state. */
interface StatusLine {
  /** The name of a database, or "node 1". */
  readonly name: string
  readonly action_uid: string | null
  /** For people. */
  readonly state: string
  /** Unix milliseconds; null: unknown. */
  readonly since_ms: number | null
  readonly why: string
  /** Commands of which one is chosen. */
  readonly next: readonly string[]
}

/** The cluster's state. Parts that the user may not see are null. */
interface Status {
  readonly server: string
  readonly profile: string | null
  readonly user: string
  readonly role: string
  /** End of the token. */
  readonly until: string | null
  readonly nodes: { readonly total: number; readonly active: number } | null
  readonly databases: { readonly total: number; readonly behind: number } | null
  readonly needs_you: readonly StatusLine[]
  readonly moves: readonly StatusLine[]
  /** Actions that failed within a day. */
  readonly happened: readonly StatusLine[]
}

/** Reads all parts in parallel. */
async function readStatus(context: Context): Promise<Status> {
  const link = await context.link()
  const { api, home, url } = link
  const [self, nodes, databases, actions, losses, failures] = await Promise.all([
    home === undefined ? api.getSelf({}) : { name: 'operator', role: 'admin', token_expires: null },
    unlessForbidden(api.listNodes({})),
    unlessForbidden(listAll(link)),
    unlessForbidden(listRunning(link)),
    unlessForbidden(api.listLosses({})),
    unlessForbidden(listFailures(link)),
  ])
  const all = databases ?? []
  const names = new Map(all.map(({ uid, name }) => [uid, name]))
  const running = (actions ?? []).map((action) => ({
    action,
    name: names.get(action.bdb_uid ?? 0) ?? action.object_name,
  }))
  return {
    server: url,
    profile: home === undefined ? context.target().profile.value : null,
    user: self.name,
    role: self.role,
    until: self.token_expires,
    nodes: nodes && {
      total: nodes.length,
      active: nodes.filter(({ status }) => status === 'active').length,
    },
    databases: databases && {
      total: databases.length,
      behind: databases.filter(({ upgradable_to }) => upgradable_to != null).length,
    },
    needs_you: [
      ...(losses ?? []).map((record) => ofLoss(record, names)),
      ...(nodes ?? []).filter(({ status }) => status === 'down').map(ofNode),
      ...(nodes ?? []).filter(({ missing_addr }) => missing_addr.length > 0).map(ofMissing),
      ...running.filter(({ action }) => needsPerson(action)).map(ofWaiting),
      ...all.filter((row) => row.action_uid === undefined && isBroken(row)).map(ofDatabase),
    ],
    moves: running.filter(({ action }) => !needsPerson(action)).map(ofMoving),
    happened: (failures ?? []).map((record) => ofFailure(record, names)),
  }
}

/** Returns null if the user may not see it: the other parts are still useful. */
async function unlessForbidden<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 403) return null
    throw cause
  })
}

const FIELDS = 'uid,name,status,status_reason,action_uid,upgradable_to'

async function listAll({ api }: Link): Promise<readonly Database[]> {
  const rows: Database[] = []
  for await (const page of api.listDatabases.pages({ query: { limit: 500, fields: FIELDS } }))
    rows.push(...page)
  return rows
}

async function listRunning({ api }: Link): Promise<readonly Action[]> {
  const [active, pending] = await Promise.all(
    (['active', 'pending'] as const).map((status) => api.listActions({ query: { status, limit: 1_000 } })),
  )
  return [...(active?.['state-machines'] ?? []), ...(pending?.['state-machines'] ?? [])]
}

const DAY_MS = 86_400_000
/** The newest first. */
async function listFailures({ api }: Link): Promise<readonly LogEntry[]> {
  const stime = new Date(Date.now() - DAY_MS).toISOString()
  return api.listLogs({ query: { stime, type: 'bdb_action_failed', order: 'desc', limit: 1_000 } })
}

/** Returns whether it waits for something that only a user can order or remove. */
function needsPerson({ needs_person, phase, window_ends }: Action): boolean {
  const isOpen = phase === 'window' && window_ends === null
  return needs_person || isOpen || phase === 'stuck' || phase === 'ready' || phase === 'paused'
}

function isBroken({ status, status_reason }: Database): boolean {
  return status === 'recovery' || status === 'creation-failed' || status_reason !== ''
}

interface Running {
  readonly action: Action
  readonly name: string
}

function ofWaiting({ action, name }: Running): StatusLine {
  const { action_uid, phase, waiting_for, waiting, heartbeat, certificates } = action
  const last = certificates.at(-1)
  const begun = phase === 'window' && last !== undefined ? last.at : waiting?.since
  return {
    name,
    action_uid,
    state: actionPhases[phase].label,
    why: waiting_for,
    since_ms: begun === undefined ? heartbeat * 1_000 : Date.parse(begun),
    next: nextOf(action, name),
  }
}

function ofMoving({ action, name }: Running): StatusLine {
  const { action_uid, phase, waiting_for, progress, window_ends, began_time } = action
  const until = window_ends === null ? '' : `until ${window_ends}`
  return {
    name,
    action_uid,
    state: actionPhases[phase].label,
    why: until || waiting_for || `${Math.floor(progress)} %`,
    since_ms: began_time === null ? null : Date.parse(began_time),
    next: [`fairlead actions show ${name}`],
  }
}

function ofDatabase({ name, status, status_reason }: Database): StatusLine {
  const next = [`fairlead databases show ${name}`]
  return { name, action_uid: null, state: status, since_ms: null, why: status_reason, next }
}

function ofNode({ uid, addr }: Node): StatusLine {
  return {
    name: `node ${uid}`,
    action_uid: null,
    state: 'down',
    since_ms: null,
    why: `its agent at ${addr} does not answer`,
    next: ['on that machine: fairlead doctor'],
  }
}

function ofFailure(
  { bdb_uid: uid = '', recorded_at, details }: LogEntry,
  names: ReadonlyMap<number, string>,
): StatusLine {
  const name = nameOrUid(names, uid)
  return {
    name,
    action_uid: null,
    state: 'action failed',
    since_ms: Date.parse(recorded_at),
    why: String(details['why'] ?? ''),
    next: [`fairlead audit list --database ${name} --severity WARNING`],
  }
}

function ofLoss(
  { type, bdb_uid: uid = '', recorded_at, details }: LogEntry,
  names: ReadonlyMap<number, string>,
): StatusLine {
  const name = nameOrUid(names, uid)
  return {
    name,
    action_uid: null,
    state: isLoss(type) ? lossWords[type] : type,
    since_ms: Date.parse(recorded_at),
    why: describeLoss(Number(details['lost_bytes'] ?? details['bytes'] ?? Number.NaN)),
    next: [`fairlead audit seen ${name}`],
  }
}

function describeLoss(bytes: number): string {
  if (Number.isNaN(bytes)) return 'writes may be lost; how many is not known'
  return bytes === 0 ? 'nothing on record is missing' : `${bytes} bytes of acknowledged writes are lost`
}

function ofMissing({ uid, missing_addr }: Node): StatusLine {
  return {
    name: `node ${uid}`,
    action_uid: null,
    state: 'address missing',
    since_ms: null,
    why: `endpoints do not listen at ${missing_addr.join(', ')}`,
    next: ['on that machine: fairlead doctor'],
  }
}
