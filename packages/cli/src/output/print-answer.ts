import { CommandFault } from './command-fault.ts'
import { type Cell, drawTable, type Narrowing } from './draw-table.ts'
import { foldWords } from './fold-text.ts'
import { type Form, isForPeople } from './forms.ts'
import { optionalFields } from './optional-fields.ts'
import type { Style, Terminal } from './terminal.ts'
import { toYaml } from './to-yaml.ts'
import { asJson, inOneLine, withoutOrders } from './without-orders.ts'

/** A column of a table. */
export interface Column<Row> {
  /** Name for `--columns`. */
  readonly name: string
  /** The full value, for programs. */
  readonly value: (row: Row) => string | number | boolean | null
  /** A shorter form, for people at a terminal. */
  readonly shown?: (row: Row, terminal: Terminal) => string
  readonly style?: (row: Row) => Style | undefined
  /** Only in the form `wide`, or on request. */
  readonly isWide?: true
  /** On a narrow terminal: `whole` is never cut, `spare` is left out, after those of the form `wide`. */
  readonly narrow?: 'whole' | 'spare'
}

/** An answer and its columns. */
export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly nameOf: (row: Row) => string
  /** Printed if there are no rows. */
  readonly empty?: string
}

/** Options of the output form. */
export interface AnswerOptions {
  readonly form: Form
  readonly columns?: string | undefined
  /** Commander: `--no-headers` makes it false. */
  readonly headers?: boolean | undefined
  readonly showSecrets?: boolean | undefined
}

/**
 * Prints a list. On a terminal it is a table with short values; elsewhere one line per row, full values
 * between tabs, without a head. `json`, `yaml` and `jsonl` are the API's objects without secrets.
 */
export function printList<Row extends object>(
  terminal: Terminal,
  answer: Answer<Row>,
  options: AnswerOptions,
): void {
  const { form } = options
  if (isForPeople(form) && terminal.outIsTerminal && answer.rows.length === 0)
    terminal.say(`${answer.empty ?? 'There is none.'}\n`)
  else terminal.outPainted(listOf(terminal, answer, options))
}

function listOf<Row extends object>(
  terminal: Terminal,
  { rows, columns: known, nameOf }: Answer<Row>,
  options: AnswerOptions,
): string {
  const { form } = options
  if (form === 'name') return withoutOrders(rows.map((row) => `${nameOf(row)}\n`).join(''))
  if (!isForPeople(form)) return withoutOrders(printValue(rows, form, options))
  const columns = chosen(known, options, rows)
  if (!terminal.outIsTerminal || (options.columns !== undefined && options.headers === false))
    return withoutOrders(rows.map((row) => `${tabbed(columns, row)}\n`).join(''))
  const head = columns.map(({ name }): Cell => ({ text: titleOf(name).toUpperCase() }))
  const body = rows.map((row) => columns.map((column) => cellOf(terminal, column, row)))
  return drawTable(
    options.headers === false ? body : [head, ...body],
    terminal.columns(),
    options.columns === undefined ? narrowingOf(columns) : {},
  )
}

function narrowingOf<Row>(columns: readonly Column<Row>[]): Narrowing {
  const placesOf = (is: (column: Column<Row>) => boolean) =>
    columns.flatMap((column, n) => (is(column) ? [n] : []))
  return {
    whole: placesOf(({ narrow }) => narrow === 'whole'),
    spare: [...placesOf(({ isWide }) => isWide === true), ...placesOf(({ narrow }) => narrow === 'spare')],
  }
}

/** Prints one object, a line per column; tab-separated without a terminal. */
export function printOne<Row extends object>(
  terminal: Terminal,
  answer: Omit<Answer<Row>, 'rows'> & { readonly row: Row },
  options: AnswerOptions,
): void {
  terminal.outPainted(oneOf(terminal, answer, options))
}

function oneOf<Row extends object>(
  terminal: Terminal,
  { row, columns: known, nameOf }: Omit<Answer<Row>, 'rows'> & { readonly row: Row },
  options: AnswerOptions,
): string {
  const { form } = options
  if (form === 'name') return withoutOrders(`${nameOf(row)}\n`)
  if (!isForPeople(form)) return withoutOrders(printValue(row, form, options))
  const columns = chosen(known, options, [row])
  if (options.columns !== undefined) return withoutOrders(`${tabbed(columns, row)}\n`)
  if (!terminal.outIsTerminal)
    return withoutOrders(columns.map((column) => `${column.name}\t${tabbed([column], row)}\n`).join(''))
  const lines = columns.map((column) => [titleOf(column.name), cellOf(terminal, column, row)] as const)
  const widest = Math.max(...lines.map(([title]) => title.length))
  return lines
    .filter(([, { text }]) => text !== '')
    .map(([title, { text, paint = (plain: string) => plain }]) => {
      const next = ' '.repeat(widest + 2)
      const lines = foldWords(text, { first: '', next: '', columns: terminal.columns() - next.length })
      return `${title.padEnd(widest)}  ${paint(lines).replaceAll('\n', `\n${next}`)}\n`
    })
    .join('')
}

function cellOf<Row>(terminal: Terminal, { value, shown, style }: Column<Row>, row: Row): Cell {
  const how = style?.(row)
  const text = shown === undefined ? oneLine(value(row)) : inOneLine(shown(row, terminal))
  return { text, paint: how && ((plain) => terminal.paint(how, plain)) }
}

function tabbed<Row>(columns: readonly Column<Row>[], row: Row): string {
  return columns.map(({ value }) => oneLine(value(row))).join('\t')
}

function titleOf(name: string): string {
  return name.replaceAll('_', ' ')
}

/** A value of the API as text, without secrets. */
export function printValue(
  value: unknown,
  form: Form,
  { showSecrets }: Pick<AnswerOptions, 'showSecrets'>,
): string {
  const safe = showSecrets === true ? value : withoutSecrets(value)
  if (form === 'yaml') return toYaml(safe)
  if (form !== 'jsonl') return `${asJson(safe, 2)}\n`
  return (Array.isArray(safe) ? safe : [safe]).map((entry) => `${asJson(entry)}\n`).join('')
}

/** Shown only on request, because logs of others may keep the output. */
const secrets: readonly string[] = ['authentication_engine_pass', 'authentication_redis_pass', 'module_args']

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !secrets.includes(key))
      .map(([key, entry]) => [key, withoutSecrets(entry)]),
  )
}

function chosen<Row extends object>(
  columns: readonly Column<Row>[],
  { form, columns: asked }: AnswerOptions,
  rows: readonly Row[],
): readonly Column<Row>[] {
  if (asked === undefined) return columns.filter(({ isWide }) => isWide !== true || form === 'wide')
  return asked.split(',').map((each) => {
    const name = each.trim()
    const known = columns.find((column) => column.name === name)
    if (known !== undefined) return known
    const isField = rows.length === 0 || rows.some((row) => Object.hasOwn(row, name))
    if (!/^[a-z]\w*$/.test(name) || secrets.includes(name) || !(isField || optionalFields.includes(name)))
      throw new CommandFault(
        'usage',
        `--columns: there is no column ${name}; there are ${columns.map((column) => column.name).join(', ')}, and the fields of -o json`,
      )
    return { name, value: (row) => fieldOf(row, name) }
  })
}

/** A field of the API's object. */
function fieldOf(row: object, name: string): string | number | boolean | null {
  const value: unknown = Object.hasOwn(row, name) ? (row as Record<string, unknown>)[name] : null
  if (typeof value === 'object' && value !== null) return asJson(withoutSecrets(value))
  return (value ?? null) as string | number | boolean | null
}

function oneLine(value: string | number | boolean | null): string {
  // A server of another version may lack the field.
  return inOneLine(String(value ?? ''))
}
