import { ApiError, type ErrorCode } from '@fairlead/api/lean'
import { CommandFault } from './command-fault.ts'
import { type Exit, exitCodes } from './exit-codes.ts'
import { foldText } from './fold-text.ts'
import { asJson as jsonOf, withoutOrders } from './without-orders.ts'

/** A printable error: message, obstacles, next command. */
export interface FaultText {
  readonly exit: Exit
  readonly message: string
  readonly obstacles: readonly string[]
  readonly next: string | undefined
  readonly code: string | undefined
}

/** Converts any error. All but refusals and CommandFaults are `failed`. */
export function faultTextOf(cause: unknown): FaultText {
  if (cause instanceof CommandFault) return cause
  if (cause instanceof ApiError) {
    const { message, code } = cause
    const several = cause.obstacles.length > 1
    const obstacles = several ? cause.obstacles.map((obstacle) => obstacle.message) : []
    return {
      exit: exitOf(cause),
      message: several ? 'It is refused, and nothing was touched.' : message,
      obstacles,
      code,
      next: nextAfter(code),
    }
  }
  if (cause instanceof TypeError || cause instanceof RangeError) return toldBug(cause)
  const ofFile = toldFile(cause)
  if (ofFile !== undefined) return ofFile
  const message = cause instanceof Error ? cause.message : String(cause)
  // From the operator link, which must not be loaded here.
  const isUnreached = cause instanceof Error && cause.name === 'ServerUnreachable'
  return {
    exit: isUnreached ? 'unreached' : 'failed',
    message,
    obstacles: [],
    next: undefined,
    code: undefined,
  }
}

const faultsOfFiles: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not use it',
  EISDIR: 'it is a folder',
}

/** A file that a command was given. */
function toldFile(cause: unknown): FaultText | undefined {
  const { code = '', path } = cause as { readonly code?: string; readonly path?: unknown }
  const why = faultsOfFiles[code]
  if (why === undefined || typeof path !== 'string') return undefined
  return { exit: 'usage', message: `${path}: ${why}; nothing was sent`, obstacles: [], next: undefined, code }
}

/** A TypeError or similar: an unexpected answer, or a bug of this program. */
function toldBug({ message }: Error): FaultText {
  return {
    exit: 'failed',
    message: `The answer is not as it was expected, or this program has a fault: ${message}`,
    obstacles: [],
    next: 'look whether program and server are of one version: fairlead doctor; where it is: FAIRLEAD_DEBUG=1',
    code: 'internal_error',
  }
}

/** Writes an error to stderr, for people or as one JSON line. Returns the exit code. */
export function printError(
  cause: unknown,
  { asJson, isTerminal }: { asJson: boolean; isTerminal: boolean },
): number {
  const told = faultTextOf(cause)
  const { code: exit_code } = exitCodes[told.exit]
  if (asJson) {
    const { message, code, obstacles } = told
    const error = {
      error_code: code ?? told.exit,
      message,
      ...(obstacles.length > 0 && { obstacles }),
      exit_code,
    }
    process.stderr.write(`${jsonOf(error)}\n`)
    return exit_code
  }
  const lines = [
    told.message,
    ...told.obstacles.map((one) => `  ${one}`),
    ...(told.next ? [`  ${told.next}`] : []),
  ]
  const text = `${lines.join('\n')}${told.code === undefined ? '' : `  [${told.code}]`}`
  const said = `fairlead: ${text}`
  const shown = isTerminal ? foldText(said, process.stderr.columns || 80) : said
  process.stderr.write(withoutOrders(`${shown}\n`))
  return exit_code
}

/** Exit code by the answer's status. */
function exitOf({ status }: ApiError): Exit {
  if (status === 401) return 'signed_out'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  return status === 429 || status >= 500 ? 'unreached' : 'refused'
}

const nexts: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'sign in: fairlead login',
  forbidden: 'ask an admin, or use another profile: --profile NAME',
  internal_error: 'quote the id, and look at the log of the server',
  db_busy: 'look what runs: fairlead actions list --status active',
  invalid_version: 'bring another build, on the machine of the node: fairlead engines fetch FLAVOUR VERSION',
  outcome_unknown: 'look before you ask for it again: fairlead databases list',
}

function nextAfter(code: ErrorCode): string | undefined {
  return nexts[code]
}
