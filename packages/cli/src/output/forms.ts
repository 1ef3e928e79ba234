/** The forms of an answer. Loads no printers, because the tree of commands imports it. */
export const forms = ['table', 'wide', 'json', 'yaml', 'jsonl', 'name'] as const
/** One of these forms. */
export type Form = (typeof forms)[number]
