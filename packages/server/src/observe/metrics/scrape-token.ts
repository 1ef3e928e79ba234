import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Shorter ones are refused: the file may be incomplete. */
const LEAST_LENGTH = 16

export type ScrapeToken = ReturnType<typeof openScrapeToken>

/**
 * A secret in a file that lets Prometheus read metrics without a user. Reads the token in `file`, and creates
 * it for its owner only if it is missing.
 */
export function openScrapeToken(file: string) {
  if (!existsSync(file)) {
    const token = randomBytes(32).toString('base64url')
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx', flush: true })
  }
  return {
    /** Returns whether this is the token. Reads the file each time, so a new token is valid immediately. */
    async fits(sent: string): Promise<boolean> {
      const token = (await readFile(file, 'utf8').catch(() => '')).trim()
      return token.length >= LEAST_LENGTH && timingSafeEqual(digest(sent), digest(token))
    },
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()
