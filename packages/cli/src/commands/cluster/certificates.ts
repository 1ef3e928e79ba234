import { X509Certificate } from 'node:crypto'
import { showFingerprint } from '../../link/look-at-certificate.ts'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import type { Yes } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Column, printOne } from '../../output/print-answer.ts'
import { readText } from '../../output/read-quantity.ts'
import { guardChange, lookFirst } from '../guard-change.ts'

/** Replaceable certificates of a cluster. */
export type CertificateName = 'proxy' | 'api'

/** The option of both commands. */
export interface YesOption extends CommonOptions {
  readonly yes?: Yes
}
/** The options of `certificates set`. */
export interface SetOptions extends YesOption {
  readonly certFile: string
  readonly keyFile: string
}

type Certificates = Awaited<ReturnType<Link['api']['getCertificates']>>

/** Gives endpoints or the API a certificate of the user. No answer contains its key, read from a file. */
export async function setCertificate(
  context: Context,
  name: CertificateName,
  { certFile, keyFile, yes }: SetOptions,
): Promise<void> {
  const certificate = readText('--cert-file', certFile)
  const key = readText('--key-file', keyFile)
  const link = await context.link()
  const about = `New connections ${places[name]} are shown this certificate.`
  await guardChange(context, link, { about, asked: 'yes', yes })
  const after = await link.api
    .updateCertificate({ body: { name, certificate, key } })
    .catch(lookFirst(`fairlead certificates show ${name}`))
  print(context, name, after)
}

/** Returns to a certificate signed by the cluster's authority. */
export async function deleteCertificate(
  context: Context,
  name: CertificateName,
  { yes }: YesOption,
): Promise<void> {
  const link = await context.link()
  const about = `New connections ${places[name]} are shown a certificate that the authority of the cluster has signed.`
  await guardChange(context, link, { about, asked: { name }, yes })
  const after = await link.api
    .deleteCertificate({ params: { certificate_name: name } })
    .catch(lookFirst(`fairlead certificates show ${name}`))
  print(context, name, after)
}

const places = { proxy: 'to endpoints of databases', api: 'to the API' } as const

/** The shown facts of a certificate. */
interface Shown {
  readonly name: string
  readonly subject: string
  readonly issuer: string
  readonly valid_to: string
  readonly fingerprint: string
}

const columns: readonly Column<Shown>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'subject', value: ({ subject }) => subject },
  { name: 'issuer', value: ({ issuer }) => issuer },
  { name: 'valid_to', value: ({ valid_to }) => valid_to },
  { name: 'fingerprint', value: ({ fingerprint }) => fingerprint },
]

function print({ terminal, answer }: Context, name: CertificateName, after: Certificates): void {
  const pem = name === 'api' ? after.api_cert : after.proxy_cert
  if (pem === null) throw new CommandFault('failed', 'this server has no HTTPS: FAIRLEAD_HTTPS_PORT is 0')
  const { subject, issuer, validTo, fingerprint256 } = new X509Certificate(pem)
  const row = {
    name,
    subject: subject.replaceAll('\n', ', '),
    issuer: issuer.replaceAll('\n', ', '),
    valid_to: new Date(validTo).toISOString(),
    fingerprint: showFingerprint(fingerprint256),
  }
  printOne(terminal, { row, columns, nameOf: () => name }, answer)
}
