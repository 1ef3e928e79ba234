import { rowsOf } from './row.ts'

/** Strings, bits, HyperLogLogs and keys as such. */
export const readValues = rowsOf(String.raw`
BITCOUNT $k                            | SET $k foobar
BITFIELD_RO $k GET u8 0                | SET $k foobar
BITPOS $k 1                            | SET $k "\x00\xff"
DUMP $k                                | SET $k 10
EXISTS $k $l $k                        | SET $k 1
EXPIRETIME $k                          | SET $k 1 EXAT 33177117420
GET $k                                 | SET $k "a\r\nb\x00c"
GETBIT $k 7                            | SET $k a
GETRANGE $k 1 -2                       | SET $k foobar
LCS $k $l IDX                          | MSET $k ohmytext $l mynewtext
MEMORY USAGE $k                        | SET $k foobar
MGET $k $l $m                          | MSET $k 1 $m 3
OBJECT ENCODING $k                     | SET $k 10
OBJECT FREQ $k                         | SET $k 10                                |  | error
OBJECT IDLETIME $k                     | SET $k 10                                |  | numbers
OBJECT REFCOUNT $k                     | RPUSH $k a
OBJECT HELP
PEXPIRETIME $k                         | SET $k 1 PXAT 33177117420123
PFCOUNT $k $l                          | PFADD $k a b c ; PFADD $l c d
PTTL $k                                | SET $k 1
STRLEN $k                              | SET $k foobar
SUBSTR $k 0 2                          | SET $k foobar
TOUCH $k $l                            | SET $k 1
TTL $k                                 | SET $k 1 EX 100000                        |  | numbers
TYPE $k                                | XADD $k 1-1 f v
SORT_RO $k DESC                        | RPUSH $k 3 1 2
`)
