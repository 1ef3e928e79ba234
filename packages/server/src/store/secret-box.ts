import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { parseStoreKey } from '../core/identity/store-key.ts'

/** Protects secrets from readers of a backup or disk. */
export interface SecretBox {
  /** `purpose` binds the secret to its place. */
  seal(plain: string, purpose: string): string
  /** Throws if it was changed, or sealed with another key or purpose. */
  open(sealed: string, purpose: string): string
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const form = 'v1:'

/** AES-256-GCM with this key of 32 bytes. */
export function createSecretBox(keyBytes: Uint8Array): SecretBox {
  // Bytes would create a key object for each use, as slow as opening a secret.
  const key = createSecretKey(keyBytes)
  return {
    seal(plain, purpose) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return form + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed.slice(form.length), 'base64')
      try {
        if (!sealed.startsWith(form)) throw new Error('it is not sealed')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
          .setAAD(Buffer.from(purpose))
          .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([plain, decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new Error(
          'a secret in the store does not open: the key is not the one it was sealed with (FAIRLEAD_STORE_KEY, or store.key in FAIRLEAD_HOME)',
          { cause },
        )
      }
    },
  }
}

/**
 * Reads the store's key from `file`, or creates it: 32 bytes in base64, for its owner. Throws if others can
 * read it.
 */
export function readStoreKey(file: string): Uint8Array {
  if (!existsSync(file)) writeKey(file)
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o077) !== 0) {
    throw new Error(`others can read ${file} (mode ${mode.toString(8)}); run chmod 600 on it`)
  }
  const key = parseStoreKey(readFileSync(file, 'utf8'))
  if (key === undefined) throw new Error(`${file} is not a key: it must be 32 bytes in base64`)
  return key
}

/** Durable before anything is sealed with it. */
function writeKey(file: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    chmodSync(file, 0o600)
    writeSync(descriptor, `${randomBytes(KEY_BYTES).toString('base64')}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
