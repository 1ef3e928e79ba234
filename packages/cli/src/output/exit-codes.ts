/** Exit codes of all commands. A code never changes its meaning. */
export const exitCodes = {
  done: { code: 0, meaning: 'Done as asked. An empty list is an answer, too' },
  failed: {
    code: 1,
    meaning:
      'The operation began and failed, its question was answered with no, or Fairlead itself has a fault',
  },
  usage: { code: 2, meaning: 'The command line or the configuration is wrong, and nothing was sent' },
  refused: {
    code: 3,
    meaning: 'A rule refuses it, and nothing was touched; also a dry run of what would be refused',
  },
  signed_out: { code: 4, meaning: 'Not signed in, the token has ended, or the password is wrong' },
  forbidden: { code: 5, meaning: 'Signed in, and not allowed to' },
  not_found: { code: 6, meaning: 'The named object does not exist' },
  unreached: {
    code: 7,
    meaning: 'The server was not reached, or is not able to answer now: trying again may help',
  },
  taken_back: { code: 8, meaning: 'It was taken back: somebody rolled back or cancelled it' },
  still_running: {
    code: 9,
    meaning: 'It still runs and the wait has ended; or it needs a person, and none can be asked',
  },
  would_change: { code: 10, meaning: 'Dry run with --exit-code found changes' },
  interrupted: { code: 130, meaning: 'Ctrl-C. The server continues' },
  terminated: { code: 143, meaning: 'SIGTERM. The server continues' },
} as const

/** A key of the table of exit codes. */
export type Exit = keyof typeof exitCodes

/** `fairlead help exit-codes`. */
export function printExitCodes(): string {
  const lines = Object.values(exitCodes).map(
    ({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`,
  )
  return `Exit codes of all commands:\n\n${lines.join('\n')}\n`
}
