/** The first characters of an engine's message, field or line suffice to recognize it. */
const MOST_SHOWN = 500

/**
 * Makes an engine's text safe for a log, an audit record, an answer or a terminal: at most `most` characters,
 * and "?" for each invalid one, or one that moves a cursor, ends a line, or changes the direction of text. An
 * engine, and scripts in it, may write any.
 */
export function printable(text: string, most = MOST_SHOWN): string {
  const shown = (text.length > most ? `${text.slice(0, most)}…` : text).replace(unprintable, '?')
  return shown.isWellFormed() ? shown : shown.toWellFormed()
}

/** Control characters (C0, C1, DEL), line and paragraph separators, invisible and direction-changing ones. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
