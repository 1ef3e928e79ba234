import { Type } from 'typebox'

const Changing = Type.Optional(
  Type.Unknown({ description: 'Taken with any value, and changes nothing: it changes by itself' }),
)

const Settled = Type.Optional(
  Type.Unknown({ description: 'Taken with the value that it has, refused with another' }),
)

/** Immutable fields of a change. A program may send back the values that it read. */
export function settledFields<Name extends string>(
  names: readonly Name[],
): { [Field in Name]: typeof Settled } {
  // The type of an object from entries lacks the names.
  return Object.fromEntries(names.map((name) => [name, Settled])) as { [Field in Name]: typeof Settled }
}

/** Fields that change automatically: the value that a program read may be outdated. */
export function changingFields<Name extends string>(
  names: readonly Name[],
): { [Field in Name]: typeof Changing } {
  return Object.fromEntries(names.map((name) => [name, Changing])) as { [Field in Name]: typeof Changing }
}
