/** With which byte each kind of reply begins, and others that mean something in it. */
export const PLUS = 0x2b
/** `-`, as the first byte of a reply: an error in one line. RESP2 and RESP3. */
export const ERROR = 0x2d
/** `:` a whole number in one line. RESP2 and RESP3. */
export const INTEGER = 0x3a
/** `$` a text with its length in bytes before it; -1 is null in RESP2. */
export const BULK = 0x24
/** `*` a list with the number of its elements before it; -1 is null in RESP2. */
export const ARRAY = 0x2a
/** `_` nothing. RESP3. */
export const NULL = 0x5f
/** `#` followed by t or f. RESP3. */
export const BOOLEAN = 0x23
/** `,` a number with a fraction, inf or nan, in one line. RESP3. */
export const DOUBLE = 0x2c
/** `(` a whole number of any length, in one line. RESP3. */
export const BIG_NUMBER = 0x28
/** `!` an error with its length in bytes before it. RESP3. */
export const BULK_ERROR = 0x21
/** `=` a text whose first four bytes name its format (`txt:`). RESP3. */
export const VERBATIM = 0x3d
/** `%` keys and values in turn; the number before them counts pairs. RESP3. */
export const MAP = 0x25
/** `~` a list without order. RESP3. */
export const SET = 0x7e
/** `>` a list that answers no command: messages, invalidations. RESP3. */
export const PUSH = 0x3e
/** `|` pairs that say something of the reply behind them, and are no reply themselves. RESP3. */
export const ATTRIBUTE = 0x7c
/** Ends each line, together with LF. */
export const CR = 0x0d
/** The second byte of the end of a line. */
export const LF = 0x0a
/** The digit 0. */
export const ZERO = 0x30
/** The digit 9. */
export const NINE = 0x39
/** The sign of a negative number or length. */
export const MINUS = 0x2d
