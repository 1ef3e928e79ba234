import { rowsOf } from './row.ts'

/** Strings, bits, HyperLogLogs and keys as such. */
export const writeValues = rowsOf(String.raw`
APPEND $k cd                           | SET $k ab                                 | GET $k
BITFIELD $k INCRBY u8 0 3              | SET $k a                                  | GET $k
BITOP XOR $m $k $l                     | MSET $k foo $l bar                        | GET $m
COPY $k $l                             | SET $k 1                                  | MGET $k $l
DECR $k                                | SET $k 10                                 | GET $k
DECRBY $k 3                            | SET $k 10                                 | GET $k
DEL $k $l                              | MSET $k 1 $l 2                            | EXISTS $k $l
DELIFEQ $k v                           | SET $k v                                  | EXISTS $k
EXPIRE $k 100000                       | SET $k v                                  | PERSIST $k
EXPIREAT $k 33177117420                | SET $k v                                  | EXPIRETIME $k
GETDEL $k                              | SET $k v                                  | EXISTS $k
GETEX $k PXAT 33177117420123           | SET $k v                                  | PEXPIRETIME $k
GETSET $k w                            | SET $k v                                  | GET $k
INCR $k                                | SET $k 10                                 | GET $k
INCRBY $k 5                            | SET $k 10                                 | GET $k
INCRBYFLOAT $k 0.1                     | SET $k 10.5                               | GET $k
MOVE $k 5                              | SET $k v                                  | EXISTS $k
MSET $k 1 $l 2                         |                                           | MGET $k $l
MSETEX 2 $k 1 $l 2 EXAT 33177117420    |                                           | MGET $k $l ; EXPIRETIME $l
MSETNX $k 1 $l 2                       |                                           | MGET $k $l
PERSIST $k                             | SET $k v EX 100000                        | TTL $k
PEXPIRE $k 100000000                   | SET $k v                                  | PERSIST $k
PEXPIREAT $k 33177117420123            | SET $k v                                  | PEXPIRETIME $k
PFADD $k d                             | PFADD $k a b c                            | PFCOUNT $k ; DUMP $k
PFMERGE $m $k $l                       | PFADD $k a b c ; PFADD $l c d             | PFCOUNT $m
PSETEX $k 100000000 v                  |                                           | GET $k ; PERSIST $k
RENAME $k $l                           | SET $k v                                  | MGET $k $l
RENAMENX $k $l                         | SET $k v                                  | MGET $k $l
RESTORE $k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" |                            | GET $k
SET $k "w\r\nDEL x\r\n" GET            | SET $k v                                  | GET $k
SET $k w XX KEEPTTL                      | SET $k v                                  | GET $k
SETBIT $k 7 1                          | SET $k foo                                | GET $k
SETEX $k 100000 v                      |                                           | GET $k ; PERSIST $k
SETNX $k v                             |                                           | GET $k
SETRANGE $k 3 bar                      | SET $k foo                                | GET $k
SORT $k STORE $l                       | RPUSH $k 3 1 2                            | LRANGE $l 0 -1
UNLINK $k $l                           | MSET $k 1 $l 2                            | EXISTS $k $l
INCR $k                                | SET $k text                               | GET $k | error
SET $k                                 |                                           | GET $k | error
NOSUCHCOMMAND $k v                     |                                           | GET $k | error
`)
