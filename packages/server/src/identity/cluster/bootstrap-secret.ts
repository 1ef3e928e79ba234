import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Refusal } from '@fairlead/api'

/** The secret that creating the cluster takes: only the owner of the machine knows it. */
export interface BootstrapSecret {
  /** To be shown; null if the operator has chosen it, and so knows it. */
  readonly generated: string | null
  /** Throws Refusal invalid_request when there is none, forbidden when it is another. */
  check(sent: string | undefined): void
  /** The cluster exists: the secret is not valid any more. */
  forget(): Promise<void>
}

/** `chosen`, or one from `file`, made if it is not there, for its owner only: a server that starts again knows the same. */
export function readBootstrapSecret(file: string, chosen: string | undefined): BootstrapSecret {
  const secret = chosen ?? readOrMake(file)
  return {
    generated: chosen === undefined ? secret : null,
    check(sent) {
      if (sent === undefined) {
        throw new Refusal(
          'invalid_request',
          'bootstrap_secret: is missing; the server printed it when it started, or has it from FAIRLEAD_BOOTSTRAP_SECRET',
        )
      }
      if (timingSafeEqual(digest(sent), digest(secret))) return
      throw new Refusal('forbidden', 'bootstrap_secret: is not the secret of this server')
    },
    forget: async () => rmSync(file, { force: true }),
  }
}

function readOrMake(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    })
  }
  return readFileSync(file, 'utf8').trim()
}

const digest = (text: string) => createHash('sha256').update(text).digest()
