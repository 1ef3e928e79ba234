import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import type { TlsPair } from './tls-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** The clock of a client may be behind. */
const EARLIER_MS = 60 * 60 * 1000
const AUTHORITY_MS = 3_650 * DAY_MS
const ENDPOINT_MS = 90 * DAY_MS
/** Engines outlive the control plane, and can relink without it for a third of this time. */
const SHARD_MS = 365 * DAY_MS
const AUTHORITY_NAME = 'CN=Fairlead'
const ENDPOINT_NAME = 'CN=Fairlead endpoint'
const API_NAME = 'CN=Fairlead API'
const SHARD_NAME = 'CN=Fairlead shard'
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/**
 * Makes the authority, for leaf certificates only. With `key`, renews it: clients that trust either one
 * accept certificates of both.
 */
export async function makeAuthority(nowMs: number, key?: string): Promise<TlsPair> {
  const x509 = await loadX509()
  const pair = key === undefined ? await makeKey() : createPrivateKey(key)
  const publicKey = publicOf(pair)
  const usage = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign
  const cert = await x509.X509CertificateGenerator.create({
    ...lifeOf(nowMs, AUTHORITY_MS),
    subject: AUTHORITY_NAME,
    issuer: AUTHORITY_NAME,
    publicKey,
    signingKey: privateOf(pair),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(usage, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  return { cert: `${cert.toString('pem')}\n`, key: pemOf(pair) }
}

/** Makes a certificate with a new key for a server with these `hosts`. */
export function makeEndpointCertificate(
  authority: TlsPair,
  hosts: readonly string[],
  nowMs: number,
): Promise<TlsPair> {
  return makeCertificate(
    authority,
    { subject: ENDPOINT_NAME, hosts, ms: ENDPOINT_MS, isClient: false },
    nowMs,
  )
}

/** Makes a certificate for the API of a server with these `hosts`. */
export function makeApiCertificate(
  authority: TlsPair,
  hosts: readonly string[],
  nowMs: number,
): Promise<TlsPair> {
  return makeCertificate(authority, { subject: API_NAME, hosts, ms: ENDPOINT_MS, isClient: false }, nowMs)
}

/** Makes a certificate for shards, which are each other's server and client, without names. */
export function makeShardCertificate(
  authority: TlsPair,
  hosts: readonly string[],
  nowMs: number,
): Promise<TlsPair> {
  return makeCertificate(authority, { subject: SHARD_NAME, hosts, ms: SHARD_MS, isClient: true }, nowMs)
}

/** The purpose and lifetime of a certificate. */
interface Purpose {
  readonly subject: string
  readonly hosts: readonly string[]
  readonly ms: number
  /** Also valid for clients. */
  readonly isClient: boolean
}

async function makeCertificate(
  authority: TlsPair,
  { subject, hosts, ms, isClient }: Purpose,
  nowMs: number,
): Promise<TlsPair> {
  const x509 = await loadX509()
  const pair = await makeKey()
  const publicKey = publicOf(pair)
  const signing = createPrivateKey(authority.key)
  const names = hosts.map((value) => ({
    type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
    value,
  }))
  const cert = await x509.X509CertificateGenerator.create({
    ...lifeOf(nowMs, ms),
    subject,
    issuer: AUTHORITY_NAME,
    publicKey,
    signingKey: privateOf(signing),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        x509.ExtendedKeyUsage.serverAuth,
        ...(isClient ? [x509.ExtendedKeyUsage.clientAuth] : []),
      ]),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(publicOf(signing)),
    ],
  })
  return { cert: `${cert.toString('pem')}\n`, key: pemOf(pair) }
}

/** Large, and needed only to make a certificate, once in months. Needs reflect-metadata first. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function lifeOf(nowMs: number, ms: number) {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40 // positive, and of constant length
  return {
    serialNumber: serial.toString('hex'),
    notBefore: new Date(nowMs - EARLIER_MS),
    notAfter: new Date(nowMs + ms),
    signingAlgorithm: algorithm,
  }
}

async function makeKey(): Promise<KeyObject> {
  return (await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })).privateKey
}

function privateOf(key: KeyObject) {
  return key.toCryptoKey(algorithm, true, ['sign'])
}

function publicOf(key: KeyObject) {
  return createPublicKey(key).toCryptoKey(algorithm, true, ['verify'])
}

function pemOf(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }))
}
