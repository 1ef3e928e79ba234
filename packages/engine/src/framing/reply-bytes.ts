/** `+`, as the first byte of a reply: a text in one line. RESP2 and RESP3. */
export const PLUS = 0x2b
/** `-`: an error in one line. RESP2 and RESP3. */
export const ERROR = 0x2d
/** `:`: an integer in one line. RESP2 and RESP3. */
export const INTEGER = 0x3a
/** `$`: a text, after its length in bytes; -1 is null in RESP2. */
export const BULK = 0x24
/** `*`: a list, after the number of its elements; -1 is null in RESP2. */
export const ARRAY = 0x2a
/** `_`: null. RESP3. */
export const NULL = 0x5f
/** `#`, then t or f. RESP3. */
export const BOOLEAN = 0x23
/** `,`: a number with a fraction, inf or nan, in one line. RESP3. */
export const DOUBLE = 0x2c
/** `(`: an integer of any length, in one line. RESP3. */
export const BIG_NUMBER = 0x28
/** `!`: an error, after its length in bytes. RESP3. */
export const BULK_ERROR = 0x21
/** `=`: a text whose first four bytes name its format (`txt:`). RESP3. */
export const VERBATIM = 0x3d
/** `%`: alternating keys and values, after the number of pairs. RESP3. */
export const MAP = 0x25
/** `~`: a list without order. RESP3. */
export const SET = 0x7e
/** `>`: a list that answers no command: messages, invalidations. RESP3. */
export const PUSH = 0x3e
/** `|`: pairs with properties of the following reply, which are no reply. RESP3. */
export const ATTRIBUTE = 0x7c
/** Ends each line, together with LF. */
export const CR = 0x0d
/** Second byte of the end of a line. */
export const LF = 0x0a
/** The digit 0. */
export const ZERO = 0x30
/** The digit 9. */
export const NINE = 0x39
/** Sign of a negative number or length. */
export const MINUS = 0x2d
