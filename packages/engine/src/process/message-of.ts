/** Returns an Error's message, or anything else as a string. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
