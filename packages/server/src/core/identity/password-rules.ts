/** Rules for a new password. */
export interface PasswordRules {
  readonly minLength: number
  readonly complexity: boolean
}

const DAY_MS = 24 * 60 * 60 * 1000
const MOST_IN_A_ROW = 3

/** Returns the faults of a new password of a user with these names; empty if none. */
export function passwordFaults(
  password: string,
  { minLength, complexity }: PasswordRules,
  names: readonly string[],
): readonly string[] {
  const letters = [...password]
  const short = letters.length < minLength ? [`must have at least ${minLength} characters`] : []
  if (!complexity) return short
  return [
    ...short,
    ...kinds.filter(({ pattern }) => !pattern.test(password)).map(({ needs }) => `must have ${needs}`),
    ...(names.some((name) => contains(password, name))
      ? ['must not contain the name or e-mail of the user, forwards or backwards']
      : []),
    ...(longestRun(letters) > MOST_IN_A_ROW
      ? [`must not repeat a character more than ${MOST_IN_A_ROW} times in a row`]
      : []),
  ]
}

/** True if a password set at `issuedMs` has expired. `days` 0: never. Applies to older passwords, too. */
export function isExpired(issuedMs: number, days: number, nowMs: number): boolean {
  const expiresMs = expiryOf(issuedMs, days)
  return expiresMs !== null && nowMs >= expiresMs
}

/** Returns when a password set at `issuedMs` expires (Unix ms); null with `days` 0. */
export function expiryOf(issuedMs: number, days: number): number | null {
  return days > 0 ? issuedMs + days * DAY_MS : null
}

const kinds = [
  { pattern: /\p{Lu}/u, needs: 'an upper case letter' },
  { pattern: /\p{Ll}/u, needs: 'a lower case letter' },
  { pattern: /\p{Nd}/u, needs: 'a digit' },
  { pattern: /[^\p{L}\p{Nd}]/u, needs: 'a character that is neither letter nor digit' },
]

function contains(password: string, name: string): boolean {
  const [where, what] = [password.toLowerCase(), name.toLowerCase()]
  return what !== '' && (where.includes(what) || where.includes([...what].toReversed().join('')))
}

function longestRun(letters: readonly string[]): number {
  let longest = 0
  let run = 0
  letters.forEach((letter, n) => {
    run = letter === letters[n - 1] ? run + 1 : 1
    longest = Math.max(longest, run)
  })
  return longest
}
