import { stripVTControlCharacters } from 'node:util'
import { openScreen } from '../../../../proof/screen.ts'

/** What differs from run to run, and what stands in its place. All else is compared as it is. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9A-F]{2}(?::[0-9A-F]{2}){31}\b/gi, 'FINGERPRINT'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?Z?(?!:\d)/g, 'CLOCK'],
  [/\/tmp\/[\w/-]*fairlead-\w+/g, 'HOME'],
  [/(?<=127\.0\.0\.1:|\s:)\d{4,5}\b/g, 'PORT'],
  [/\b(?:redis|valkey) \d+\.\d+\.\d+(?:, (?:redis|valkey) \d+\.\d+\.\d+)+/g, 'BUILDS'],
  [/(?<![\d.])\d+\.\d+\.\d+(?!\.?\d)/g, 'VERSION'],
  [/\b[\d.]+ (?:[KMGT]i)?B\b/g, 'SIZE'],
  [/(?:< )?\b[\d.]+ (ms|s)\b/g, 'N $1'],
  [/(?<=from Debian's )[a-z][\w-]*/g, 'SUITE'],
  [/\boffsets (\d+) = \1\b/g, 'offsets N = N'],
]

/**
 * What a command has printed, with placeholders for what differs from run to run. What was folded is one line
 * again, because where it is folded depends on the widths of numbers; the same holds for the columns of a
 * table.
 */
export function mask(text: string): string {
  const whole = text.replaceAll('\r', '').replaceAll(/\n(?:! )? {4,}(?=\S)/g, ' ')
  const masked = masks.reduce((all, [what, placeholder]) => all.replaceAll(what, placeholder), whole)
  return masked.replaceAll(/(?<=\S) {2,}(?=\S)/g, '  ').replaceAll(/ +$/gm, '')
}

/** What stays on a terminal when a command has ended. What was drawn while it ran is not there any more. */
export function left(shown: string): string {
  // As wide as it may be: the block is cut by the command itself, and facts are not folded.
  const screen = openScreen(400, 24)
  screen.write(shown)
  return mask(stripVTControlCharacters(`${screen.shown().join('\n').trimEnd()}\n`))
}
