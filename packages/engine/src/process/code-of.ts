/** Returns the code of an error of the system or of Node ("ENOENT"), or '' without one. */
export function codeOf(cause: unknown): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : ''
  return typeof code === 'string' ? code : ''
}
