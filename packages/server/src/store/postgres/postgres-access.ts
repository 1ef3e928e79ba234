import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { isServerUser, messageOf } from '@fairlead/engine'
import type pg from 'pg'
import type { PostgresAddress } from '../../core/state/read-postgres-address.ts'

/** A PostgreSQL database and its password. */
export interface PostgresPlace {
  readonly address: PostgresAddress
  /** A file, read for each connection, so that the password can change at run time; null: none. */
  readonly passwordFile: string | null
}

/** Readable by all, or writable by others than its owner. */
const TOO_OPEN = 0o027

/**
 * Mutual authentication of server and PostgreSQL. Reads the password for each connection, the authority once.
 * Throws if a file is missing, invalid or open to others.
 */
export function accessOf({ address, passwordFile }: PostgresPlace): Pick<pg.PoolConfig, 'password' | 'ssl'> {
  if (passwordFile !== null) readPassword(passwordFile)
  return {
    ...(passwordFile !== null && { password: async () => readPassword(passwordFile) }),
    ssl: address.tls !== null && {
      ca:
        address.tls.rootCertificate === null
          ? [...rootCertificates]
          : readAuthority(address.tls.rootCertificate),
      minVersion: 'TLSv1.2',
    },
  }
}

function readPassword(file: string): string {
  const fault = (what: string, cause?: unknown): never => {
    throw new Error(`FAIRLEAD_STORE_PASSWORD_FILE: ${what}`, { cause })
  }
  try {
    const mode = statSync(file).mode & 0o777
    if ((mode & TOO_OPEN) !== 0)
      return fault(`others can read or change ${file} (mode ${mode.toString(8)}); run chmod 600 on it`)
    const password = readFileSync(file, 'utf8').trim()
    return password === '' ? fault(`${file} is empty`) : password
  } catch (cause) {
    if (cause instanceof Error && 'syscall' in cause)
      return fault(`cannot be read: ${messageOf(cause)}${ofOwnUser()}`, cause)
    throw cause
  }
}

/** A hint if root started Fairlead: the server cannot read root's files, and has its own /tmp. */
function ofOwnUser(): string {
  const uid = process.geteuid?.() ?? 0
  if (!isServerUser(uid)) return ''
  return `; the server is a user of its own (${uid}): put the file into server/own of FAIRLEAD_HOME, with the owner of that folder`
}

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8')
    void new X509Certificate(text)
    return text
  } catch (cause) {
    throw new Error(`FAIRLEAD_STORE: sslrootcert ${file} is no certificate in PEM: ${messageOf(cause)}`, {
      cause,
    })
  }
}
