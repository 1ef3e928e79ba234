import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Lets Prometheus read metrics without a user: a secret in a file. */
export interface ScrapeToken {
  /** Whether this is the token. The file is read each time, so a new one counts at once. */
  fits(sent: string): Promise<boolean>
}

/** Shorter ones, as of a file that is being written, let no program in. */
const LEAST_LENGTH = 16

/** The token in `file`, made if it is not there, for its owner only. */
export function openScrapeToken(file: string): ScrapeToken {
  if (!existsSync(file)) {
    const token = randomBytes(32).toString('base64url')
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx', flush: true })
  }
  return {
    async fits(sent) {
      const token = (await readFile(file, 'utf8').catch(() => '')).trim()
      return token.length >= LEAST_LENGTH && timingSafeEqual(digest(sent), digest(token))
    },
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()
