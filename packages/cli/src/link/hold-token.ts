import { leanOperations, type Transport } from '@fairlead/api/lean'
import { CommandFault } from '../output/command-fault.ts'
import type { Login, ProfileFiles } from '../profiles/profile-files.ts'

/** Returns a request's token, renewed if due; undefined: none. */
export type HoldToken = () => Promise<string | undefined>

/** The token of a profile. In the second half of its life it is replaced by a new one. */
export function holdProfileToken(
  {
    profile,
    files,
    transport,
  }: { readonly profile: string; readonly files: ProfileFiles; readonly transport: Transport },
  login: Login,
): HoldToken {
  let now = login
  let isTried = false
  return async () => {
    const { issuedMs, endsMs, token } = now
    if (Date.now() >= endsMs) throw ended(profile, endsMs)
    if (isTried || Date.now() < (issuedMs + endsMs) / 2) return token
    // A token that cannot be renewed is valid to its end.
    isTried = true
    const ttl = Math.max(1, Math.round((endsMs - issuedMs) / 1_000))
    const fresh = await renew(transport, token, ttl).catch(() => undefined)
    if (fresh === undefined) return token
    now = { ...now, ...fresh }
    isTried = false
    files.keepLogin(profile, now)
    return now.token
  }
}

function ended(profile: string, endsMs: number): CommandFault {
  return new CommandFault(
    'signed_out',
    `The token of profile ${profile} ended at ${new Date(endsMs).toISOString()}.`,
    {
      code: 'unauthorized',
      next: `fairlead login --profile ${profile}`,
    },
  )
}

async function renew(transport: Transport, token: string, ttl: number) {
  const { method, path } = leanOperations.refreshToken
  const { status, text } = await transport({
    method,
    path,
    body: JSON.stringify({ ttl }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  })
  if (status !== 200) return undefined
  return readToken((JSON.parse(text) as { readonly access_token: string }).access_token)
}

/** Parses a token's own times (RFC 7519). Throws if it is no JWT. */
export function readToken(token: string): Pick<Login, 'token' | 'issuedMs' | 'endsMs'> {
  const [, middle = ''] = token.split('.')
  const { iat, exp } = JSON.parse(Buffer.from(middle, 'base64url').toString()) as { iat: number; exp: number }
  return { token, issuedMs: iat * 1_000, endsMs: exp * 1_000 }
}
