/** What is known of any message, field or line of an engine by its first characters. */
const MOST_SHOWN = 500

/**
 * Words of an engine as they may stand in a log, an audit record, an answer or on a terminal: at most `most` characters, and "?" for each
 * that moves a cursor, ends a line, turns the direction of the text, or is none. An engine, and what a script in it says, may write any.
 */
export function printable(text: string, most = MOST_SHOWN): string {
  const shown = (text.length > most ? `${text.slice(0, most)}…` : text).replace(unprintable, '?')
  return shown.isWellFormed() ? shown : shown.toWellFormed()
}

/** Controls (C0, C1, DEL), line and paragraph separators, and what is not seen or changes the direction of what is. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
