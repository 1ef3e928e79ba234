import { lookAtCertificate, type Shown } from '../link/look-at-certificate.ts'
import type { Context } from '../link/open-context.ts'
import { authorityOf } from '../link/open-link.ts'
import { tellUnreached } from '../link/tell-unreached.ts'
import { askLine } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'

/**
 * Returns the certificates to verify the server with; undefined: the system's, or no TLS. Trusts an unknown
 * authority if a person agrees, or its fingerprint was given; else throws CommandFault.
 */
export async function trustServer(
  context: Context,
  url: string,
  fingerprint: string | undefined,
): Promise<string | undefined> {
  const { withinMs } = context
  const target = context.target()
  const known = authorityOf(target)
  if (!url.startsWith('https:')) return undefined
  const look = (ca: string | undefined) =>
    lookAtCertificate(url, ca, withinMs).catch((cause: unknown) => {
      throw tellUnreached(cause, url)
    })
  const shown = await look(known)
  if (shown.isTrusted) return known
  if (target.caFile !== undefined) throw untrusted(url, shown)
  if (!shown.isAuthority)
    throw untrusted(url, shown, 'it does not show its authority; give that: --ca-file FILE')
  // With this authority, name and dates must be valid, too.
  const verified = await look(shown.authority)
  if (!verified.isTrusted) throw untrusted(url, verified)
  const changed = known === undefined ? '' : ' It is NOT the authority that this profile has trusted so far.'
  const what = `Certificate signed by unknown authority "${shown.authorityName}", SHA-256 ${shown.fingerprint}.${changed}`
  if (fingerprint === undefined) await askToTrust(context, what)
  else if (!isSame(fingerprint, shown.fingerprint))
    throw new CommandFault('usage', `${what} That is not the one of --fingerprint.`)
  return shown.authority
}

async function askToTrust({ terminal }: Context, what: string): Promise<void> {
  const compare = 'ompare it with `fairlead certificates show --fingerprint` on the server'
  if (!terminal.interactive)
    throw new CommandFault('usage', what, {
      code: 'unknown_authority',
      next: `c${compare}, then: --fingerprint SHA256, or --ca-file FILE`,
    })
  const answer = await askLine(terminal, `${what} C${compare}. Trust it? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFault('failed', 'Stopped: nothing was sent, and nothing is trusted.')
}

function untrusted(url: string, { why }: Shown, next?: string): CommandFault {
  return new CommandFault('usage', `the certificate of ${url} is not to be trusted: ${why}`, {
    code: why,
    ...(next !== undefined && { next }),
  })
}

function isSame(one: string, other: string): boolean {
  const bare = (text: string) =>
    text
      .replace(/^sha256:/i, '')
      .replaceAll(/[^0-9a-f]/gi, '')
      .toLowerCase()
  return bare(one) === bare(other)
}
