/** The forms of an answer. The tree of commands names them: here nothing is loaded that prints them. */
export const forms = ['table', 'wide', 'json', 'yaml', 'jsonl', 'name'] as const
/** One of them. */
export type Form = (typeof forms)[number]
