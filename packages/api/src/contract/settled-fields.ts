import { Type } from 'typebox'

const Changing = Type.Optional(
  Type.Unknown({ description: 'Taken with any value, and changes nothing: it changes by itself' }),
)

const Settled = Type.Optional(
  Type.Unknown({ description: 'Taken with the value that it has, refused with another' }),
)

/** Fields of a change that cannot be changed. A program that sends back what it was answered asks for nothing by them. */
export function settledFields<Name extends string>(
  names: readonly Name[],
): { [Field in Name]: typeof Settled } {
  // An object from its entries has no type for its names.
  return Object.fromEntries(names.map((name) => [name, Settled])) as { [Field in Name]: typeof Settled }
}

/** Fields of a change that change by themselves: what a program read a moment ago may be another value by now. */
export function changingFields<Name extends string>(
  names: readonly Name[],
): { [Field in Name]: typeof Changing } {
  return Object.fromEntries(names.map((name) => [name, Changing])) as { [Field in Name]: typeof Changing }
}
