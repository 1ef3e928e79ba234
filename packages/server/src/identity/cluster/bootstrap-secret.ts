import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Refusal } from '@fairlead/api'

/** The secret that a request must have to create the cluster: only the owner of the machine knows it. */
export interface BootstrapSecret {
  /** The secret to show; null if the operator chose it. */
  readonly generated: string | null
  /** Throws Refusal: invalid_request if `sent` is missing, forbidden if it is wrong. */
  check(sent: string | undefined): void
  /** The cluster exists, so the secret is no longer valid. */
  forget(): Promise<void>
}

/** Uses `chosen`, or the secret in `file`. A missing file is made; only its owner can read it. */
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
