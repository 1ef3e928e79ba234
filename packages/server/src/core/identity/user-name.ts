import { loginOf } from './user.ts'

/** Names in the audit that do not belong to a user. */
const reserved = ['operator', 'fairlead']

/**
 * Returns the fault of a new name or e-mail of a user, or undefined. In logs a name must not look like
 * another one, so it has no invisible characters, and letters of only one script.
 */
export function nameFault(name: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name)) {
    return 'has an invisible character'
  }
  if (reserved.includes(loginOf(name))) return 'is kept for Fairlead itself'
  if (name.startsWith('(')) return 'begins with a bracket, as what the log says of unknown users does'
  const letters = [...name.normalize('NFKC')].filter((letter) => /\p{L}/u.test(letter))
  if (!scripts.some((script) => letters.every((letter) => script.test(letter)))) {
    return 'has letters of different scripts, which look alike'
  }
  const foreign = letters.some((letter) => /[\p{sc=Cyrillic}\p{sc=Greek}]/u.test(letter))
  if (foreign && letters.every((letter) => latinLooks.includes(letter))) {
    return 'has only letters that look like others of the Latin script'
  }
  return undefined
}

/** Japanese and Korean are written in several scripts. */
const scripts = [
  /[\p{sc=Latin}]/u,
  /[\p{sc=Cyrillic}]/u,
  /[\p{sc=Greek}]/u,
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Common}]/u,
  /[\p{sc=Hangul}\p{sc=Han}]/u,
  /[^\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u,
]
/** Cyrillic and Greek letters. */
const latinLooks = 'асеорхуіјѕԁһԛԝАВСЕНІЈКМОРЅТХУοανυικρτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ'
