/**
 * `node --conditions=@fairlead/source proof/prepare-promtool.ts`: unpacks the promtool of Debian's prometheus
 * for the tests, where none is installed. Part of the set-up of `npm test`. A failure is a line on stderr and
 * exit code 1.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FetchError, fetchTree } from '@fairlead/agent'
import { promtoolHere, unpackedPrometheus } from './promtool.ts'

/**
 * promtool is one program that needs only the C library; the other dependencies of the package are for its
 * web pages.
 */
const isHere = () => true

try {
  if (promtoolHere() === null) {
    await fetchTree({ suite: 'bookworm', packageName: 'prometheus', isHere, to: unpackedPrometheus })
    // The server itself, of 50 MB, is not unpacked.
    await rm(join(unpackedPrometheus, 'usr/bin/prometheus'), { force: true })
    await rm(join(unpackedPrometheus, 'usr/share'), { recursive: true, force: true })
  }
} catch (cause) {
  if (!(cause instanceof FetchError)) throw cause
  process.exitCode = 1
  process.stderr.write(`promtool could not be fetched, its tests are skipped: ${cause.message}\n`)
}
