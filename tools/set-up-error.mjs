/** Set-up cannot go on. The message is one line that says what to do; nothing else is printed. */
export class SetUpError extends Error {
  exitCode = 1
}

/**
 * Turns a missing permission to write into a SetUpError that says so. Any other error is thrown unchanged.
 */
export function explainWriteError(error, folder) {
  if (['EACCES', 'EPERM', 'EROFS'].includes(error.code))
    throw new SetUpError(
      `cannot write to ${folder} (${error.code}). Run as the owner of the repository, or from a copy of your own.`,
    )
  if (error.code === 'ENOSPC')
    throw new SetUpError(`no space left on the disk of ${folder}. Free some and try again.`)
  throw error
}
