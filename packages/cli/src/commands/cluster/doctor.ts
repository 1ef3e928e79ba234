import { hasHome } from '../../link/hold-operator-token.ts'
import { beginRequest, headOf } from '../../link/http-transport.ts'
import { lookAtCertificate } from '../../link/look-at-certificate.ts'
import type { Context } from '../../link/open-context.ts'
import { authorityOf, type Link } from '../../link/open-link.ts'
import { exitCodes } from '../../output/exit-codes.ts'
import { isForPeople } from '../../output/forms.ts'
import { type Column, printList } from '../../output/print-answer.ts'
import { faultTextOf } from '../../output/print-error.ts'
import { showSeconds } from '../../output/show-quantity.ts'
import type { Style, Terminal } from '../../output/terminal.ts'
import { withoutOrders } from '../../output/without-orders.ts'
import { type Check, fine, type Result } from './check.ts'
import { checkNames } from './check-names.ts'
import { checkReach } from './check-reach.ts'

/** Checks a machine with Fairlead. */
export type CheckHere = (context: Context) => Promise<readonly Check[]>

/**
 * Prints the checks of this machine (null: it only has the client) and of the connection to the server. Exit
 * code 1 if one fails.
 */
export async function runDoctor(context: Context, checkHere: CheckHere | null): Promise<void> {
  const { terminal, answer } = context
  const rows = [checkNode(), ...((await checkHere?.(context)) ?? []), ...(await checkServer(context))]
  if (isForPeople(answer.form) && answer.columns === undefined && terminal.outIsTerminal)
    for (const row of rows) terminal.outPainted(draw(terminal, row))
  else printList(terminal, { rows, columns, nameOf: ({ check }) => check }, answer)
  if (rows.some(({ result }) => result === 'bad')) process.exitCode = exitCodes.failed.code
}

const columns: readonly Column<Check>[] = [
  { name: 'result', value: ({ result }) => result },
  { name: 'check', value: ({ check }) => check },
  { name: 'what', value: ({ what }) => what },
  { name: 'mend', value: ({ mend }) => mend },
]

function checkNode(): Check {
  return fine('node', `Node ${process.versions.node}`)
}

const styles: Readonly<Record<Result, Style>> = { ok: 'good', warn: 'warn', bad: 'bad', none: 'dim' }

function draw(terminal: Terminal, { result, what, mend }: Check): string {
  const { done, bad } = terminal.glyphs
  const sign = { ok: done, warn: '!', bad, none: '-' }[result]
  const safe = (text: string) => withoutOrders(text).replaceAll(/\s*\n\s*/g, '; ')
  const below = mend === null ? '' : `    ${safe(mend)}\n`
  return `${terminal.paint(styles[result], sign)} ${safe(what)}\n${below}`
}

/** Warns about certificates that end within this time. */
const SOON_DAYS = 14
/** Allowed difference of the clocks: tokens live for minutes at least. */
const CLOCK_MS = 5_000

/** Checks the connection to the server that other commands would use. */
async function checkServer(context: Context): Promise<readonly Check[]> {
  let link: Link
  try {
    link = await context.link()
  } catch (cause) {
    const isUsed = context.target().server !== undefined || hasHome(context.terminal.env)
    return [isUsed ? broken('server', cause) : notUsed]
  }
  try {
    await link.api.getReadiness({})
  } catch (cause) {
    return [broken('server', cause)]
  }
  const { home, url } = link
  const server = fine('server', `${url} is ready${home === undefined ? '' : `, by its socket in ${home}`}`)
  return [
    server,
    ...(await checkClock(context, url)),
    ...(await checkSignIn(link)),
    ...(await checkTls(context, url)),
  ]
}

/** A machine on which no server was ever started, and that knows none, has no fault. */
const notUsed: Check = {
  check: 'server',
  result: 'none',
  what: 'server: there is no profile, and none was ever started on this machine',
  mend: 'fairlead up, or fairlead login --server https://…',
}

function broken(check: string, cause: unknown): Check {
  const { message, next } = faultTextOf(cause)
  return { check, result: 'bad', what: message, mend: next ?? null }
}

async function checkClock(context: Context, url: string): Promise<readonly Check[]> {
  const place = { url, ca: context.target().server === undefined ? undefined : authorityOf(context.target()) }
  const begun = Date.now()
  const sent = await beginRequest(place, { method: 'GET', path: '/healthz' })
  sent.end()
  const { headers } = (await headOf(sent)).resume()
  if (headers.date === undefined) return []
  // The server's clock is in whole seconds, rounded down.
  const away = Math.max(0, Math.abs(Date.parse(headers.date) + 500 - (begun + Date.now()) / 2) - 500)
  if (away <= CLOCK_MS) return [fine('clock', 'clock: as that of the server')]
  const what = `clock: ${showSeconds(away / 1_000)} away from that of the server`
  return [{ check: 'clock', result: 'bad', what, mend: 'set both by NTP: tokens depend on the time' }]
}

async function checkSignIn({ api, home }: Link): Promise<readonly Check[]> {
  if (home !== undefined)
    return [...(await checkWall(api)), ...(await checkReach(api)), ...(await checkNames(api))]
  try {
    const { name, role, token_expires } = await api.getSelf({})
    return [
      fine(
        'sign_in',
        `signed in as ${name} (${role})${token_expires === null ? '' : ` until ${token_expires}`}`,
      ),
    ]
  } catch (cause) {
    return [broken('sign_in', cause)]
  }
}

/** Checks whether engines of this machine's nodes have a wall. */
async function checkWall(api: Link['api']): Promise<readonly Check[]> {
  const nodes = await api.listNodes({})
  return nodes.map(({ uid, status, engine_wall, engine_wall_missing }): Check => {
    if (status === 'down')
      return {
        check: 'agent',
        result: 'bad',
        what: `the agent of node ${uid} does not answer`,
        mend: 'fairlead up',
      }
    if (engine_wall) return fine('wall', 'engines are started within a wall')
    const what = `engines are started without a wall: ${engine_wall_missing}`
    return { check: 'wall', result: 'warn', what, mend: 'docs/security.md' }
  })
}

async function checkTls({ target, withinMs }: Context, url: string): Promise<readonly Check[]> {
  if (!url.startsWith('https:')) return []
  const { isTrusted, why, endsMs } = await lookAtCertificate(url, authorityOf(target()), withinMs)
  const days = Math.floor((endsMs - Date.now()) / 86_400_000)
  const what = `TLS certificate: ${isTrusted ? `${days} days` : why}`
  if (isTrusted && days >= SOON_DAYS) return [fine('certificate', what)]
  const mend = 'on the server: restart it, or give it a newer one of your own'
  return [{ check: 'certificate', result: isTrusted ? 'warn' : 'bad', what, mend }]
}
