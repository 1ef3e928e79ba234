import { beginRequest, headOf } from '../../link/http-exchange.ts'
import { lookAtCertificate } from '../../link/look-at-certificate.ts'
import type { Context } from '../../link/open-context.ts'
import { authorityOf, type Link } from '../../link/open-link.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { toldOf } from '../../output/print-error.ts'
import { showSeconds } from '../../output/show-quantity.ts'
import { type Check, fine } from './check.ts'

/** Warns about certificates that end within this time. */
const SOON_DAYS = 14
/** Allowed difference of the clocks: tokens live for minutes at least. */
const CLOCK_MS = 5_000

/** Checks the connection to the server that other commands would use. */
export async function checkServer(context: Context): Promise<readonly Check[]> {
  let link: Link
  try {
    link = await context.link()
  } catch (cause) {
    const isNone = cause instanceof CommandFault && cause.exit === 'unreached'
    return [notOpened(cause, isNone)]
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

/** A machine without any server has no fault. */
function notOpened(cause: unknown, isNone: boolean): Check {
  if (!isNone) return broken('server', cause)
  const what = 'server: there is no profile, and none answers on this machine'
  return { check: 'server', result: 'none', what, mend: 'fairlead up, or fairlead login --server https://…' }
}

function broken(check: string, cause: unknown): Check {
  const { message, next } = toldOf(cause)
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
  if (home !== undefined) return await checkWall(api)
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
