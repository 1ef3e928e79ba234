import { rowsOf } from './row.ts'

/**
 * If a row's command blocks across a handover, another client sends the last command of the column `before`
 * afterwards. A time limit is longer than a handover of hundreds of clients takes on a busy machine.
 */
export const blocking = rowsOf(`
BLMOVE $k $l LEFT RIGHT 90             | RPUSH $k a b                              | LRANGE $k 0 -1 ; LRANGE $l 0 -1
BLMPOP 90 2 $k $l LEFT COUNT 2         | RPUSH $l a b c                            | LRANGE $l 0 -1
BLPOP $k $l 90                         | RPUSH $l a b                              | LRANGE $l 0 -1
BLPOP $k 90                            | CLIENT CAPA redirect ; RPUSH $k a b       | LRANGE $k 0 -1
BRPOP $k $l 90                         | RPUSH $l a b                              | LRANGE $l 0 -1
BRPOPLPUSH $k $l 90                    | RPUSH $k a b                              | LRANGE $k 0 -1 ; LRANGE $l 0 -1
BZMPOP 90 2 $k $l MIN                  | ZADD $l 1 a 2 b                           | ZRANGE $l 0 -1 WITHSCORES
BZPOPMAX $k $l 90                      | ZADD $l 1 a 2 b                           | ZRANGE $l 0 -1 WITHSCORES
BZPOPMIN $k $l 90                      | ZADD $l 1 a 2 b                           | ZRANGE $l 0 -1 WITHSCORES
XREAD BLOCK 90000 STREAMS $k 0         | XADD $k 1-1 f v                           | XLEN $k
XREAD COUNT 1 STREAMS $k 0             | XADD $k 1-1 f v                           | XLEN $k
XREADGROUP GROUP g c BLOCK 90000 STREAMS $k > | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v | XPENDING $k g
`)

/**
 * They wait for replicas, and a single engine has none: so the comparison is only that they answer with a
 * number.
 */
export const waiting = rowsOf(`
WAIT 9 300                             | SET $k v                                  | GET $k | numbers
WAITAOF 0 9 300                        | SET $k v                                  | GET $k | numbers
`)
