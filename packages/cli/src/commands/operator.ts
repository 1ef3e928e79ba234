import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import {
  type Config,
  connectOperator,
  copyEmbedded,
  type OperatorLink,
  verifyAuditOf,
} from '@fairlead/server'
import { showFingerprint } from '../link/look-at-certificate.ts'
import { drawWhole } from '../output/draw-table.ts'
import { withoutOrders } from '../output/without-orders.ts'
import { asServerCommand } from '../parts/server-command.ts'
import { startPart } from '../parts/start-part.ts'

/** Prints the keys that sign tokens, including the announced one. */
export async function listKeys(home: string, options: JsonOption): Promise<void> {
  printKeys(await connectOperator(home).listSigningKeys({}), options)
}

/** Makes the announced key sign; `dropAll` makes new keys and ends every token. */
export async function rotateKeys(
  home: string,
  options: JsonOption & { readonly dropAll?: boolean },
): Promise<void> {
  const body = { drop_all: options.dropAll === true }
  printKeys(await connectOperator(home).rotateSigningKeys({ body }), options)
}

/** The certificates of a cluster. */
export type CertificateName = 'ca' | 'proxy' | 'api'

/** Prints a certificate of the cluster as PEM, or its SHA-256. Throws for `api` if HTTPS is off. */
export async function showCertificate(home: string, name: CertificateName, isShort: boolean): Promise<void> {
  const now = await connectOperator(home).getCertificates({})
  const pem = { ca: now.ca_cert, proxy: now.proxy_cert, api: now.api_cert }[name]
  if (pem === null) throw new Error('this server has no HTTPS: FAIRLEAD_HTTPS_PORT is 0')
  say(isShort ? `${showFingerprint(new X509Certificate(pem).fingerprint256)}\n` : pem)
}

/** Gives a user (name or e-mail) a new password, and prints it. */
export async function resetPassword(home: string, username: string): Promise<void> {
  const { password } = await connectOperator(home).resetPassword({ body: { username } })
  say(`${username} has a new password: ${password}   (it is shown only this once)\n`)
}

/** The option `--json`. */
export interface JsonOption {
  readonly json?: boolean
}
/** The options of `audit verify`. */
export interface VerifyOptions extends JsonOption {
  readonly head?: string
}

/** Verifies that no audit record was changed; exit code 1 otherwise. */
export async function verifyAudit(
  config: Config,
  env: NodeJS.ProcessEnv,
  { head, json }: VerifyOptions,
): Promise<void> {
  const args = [
    'audit',
    'verify',
    ...(head === undefined ? [] : ['--head', head]),
    ...(json === true ? ['--json'] : []),
  ]
  if (await wasDoneByServerUser(config, env, args)) return
  const seen = await verifyAuditOf(config, head)
  const gone = seen.removed === 0 ? '' : `; ${seen.removed} older ones were removed`
  if (json === true) say(`${JSON.stringify(seen, null, 2)}\n`)
  else if (seen.fault === undefined)
    say(`${seen.records - seen.removed} records are unchanged${gone}\nhead ${seen.head}\n`)
  else process.stderr.write(withoutOrders(`fairlead: the audit was changed: ${seen.fault}\n`))
  if (seen.fault !== undefined) process.exitCode = 1
}

/** Without a server, opens its files as the server's user, not as root. False: this process is that user. */
async function wasDoneByServerUser(
  config: Config,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<boolean> {
  const command = await asServerCommand(config, process.argv[1] ?? '', env, args)
  if (command === null) return false
  const child = startPart(command)
  await once(child, 'close')
  process.exitCode = child.exitCode ?? 1
  return true
}

/** Copies the embedded store to PostgreSQL. The server must not run. */
export async function copyStore(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  if (await wasDoneByServerUser(config, env, ['store', 'copy'])) return
  const { rows, aside } = await copyEmbedded(config)
  say(
    `${rows} rows are in PostgreSQL. The file is ${aside} now.\nStart Fairlead with FAIRLEAD_STORE set from now on.\n`,
  )
}

type Keys = Awaited<ReturnType<OperatorLink['listSigningKeys']>>

function printKeys({ keys }: Keys, { json }: JsonOption): void {
  const rows = keys.map(({ kid, state, created_time }) => [kid, state, created_time])
  say(
    json === true ? `${JSON.stringify(keys, null, 2)}\n` : drawWhole([['KEY', 'STATE', 'CREATED'], ...rows]),
  )
}

/**
 * Writes an answer to stdout, safely for a terminal: the server may run as another user than the operator,
 * who may be root.
 */
function say(text: string): void {
  process.stdout.write(withoutOrders(text))
}
