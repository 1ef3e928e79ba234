import { FetchError, type FetchFault } from './fetch-error.ts'
import type { ProgramEnd } from './run-program.ts'

/** Failures of apt and dpkg with their messages (apt 2.6), the most specific first. */
const failures: readonly { readonly fault: FetchFault; readonly says: RegExp; readonly means: string }[] = [
  {
    fault: 'disk_full',
    says: /No space left on device|enough free space|Disk quota exceeded/,
    means: 'the disk is full',
  },
  {
    fault: 'unsigned',
    says: /GPG error|NO_PUBKEY|is not signed|EXPKEYSIG|BADSIG|no longer signed/,
    means: 'the archive is not signed with a key of the keyring',
  },
  {
    fault: 'damaged',
    says: /Hash Sum mismatch|unexpected size|size mismatch|File is smaller|File is larger|not a Debian format|unexpected end of file|Splitting up|is corrupt/i,
    means: 'what arrived is damaged; try again',
  },
  {
    fault: 'unreachable',
    says: /Error reading from server|Connection reset|Connection closed/i,
    means: 'the connection broke off; try again',
  },
  {
    fault: 'unreachable',
    says: /Could not resolve|Temporary failure resolving|Could not connect|Unable to connect|Connection (refused|timed out|failed)|Network is unreachable|No route to host|Could not handshake|Failed to fetch \S+ +5\d\d |Undetermined Error/i,
    means: 'the archive cannot be reached',
  },
  {
    fault: 'suite_gone',
    says: /does not have a Release file|404 +Not Found/,
    means: 'the archive does not have it',
  },
]

/** Reduces the output of apt or dpkg to an error of one line. `doing` names the failed step. */
export function readAptFailure(doing: string, end: ProgramEnd): FetchError {
  if (end.late) return new FetchError('unreachable', `${doing}: apt did not come to an end in time`)
  const text = `${end.stderr}\n${end.stdout}`
  const known = failures.find(({ says }) => says.test(text))
  const line = essentialLine(text, known?.says)
  if (!known)
    return new FetchError('failed', `${doing}: ${line || `apt ended with code ${end.code} and no word`}`)
  return new FetchError(known.fault, `${doing}: ${known.means} (${line})`)
}

/** Returns the first line about the failure: an error of apt that names it, any line with it, any error. */
function essentialLine(text: string, says: RegExp | undefined): string {
  const lines = text.split('\n').map((line) => line.trim())
  const errors = lines.filter((line) => /^E: |^dpkg-deb.*: /.test(line))
  const line = errors.find((error) => says?.test(error)) ?? lines.find((any) => says?.test(any)) ?? errors[0]
  return (line ?? '').slice(0, maxLineCharacters)
}

/** Enough for the address of a package and its error, but not for an HTML page of a proxy. */
const maxLineCharacters = 300
