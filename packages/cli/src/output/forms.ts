/** The forms of an answer. Loads no printers, because the tree of commands imports it. */
export const forms = ['table', 'wide', 'json', 'yaml', 'jsonl', 'name'] as const
/** One of these forms. */
export type Form = (typeof forms)[number]

/** Returns whether a form is for people: columns, not the API's objects. */
export function isForPeople(form: Form): form is 'table' | 'wide' {
  return form === 'table' || form === 'wide'
}
