import { rowsOf } from './row.ts'

/** Lists, sets, sorted sets, hashes, places and vector sets. */
export const writeCollections = rowsOf(String.raw`
LINSERT $k BEFORE b x                  | RPUSH $k a b                              | LRANGE $k 0 -1
LMOVE $k $l LEFT RIGHT                 | RPUSH $k a b                              | LRANGE $k 0 -1 ; LRANGE $l 0 -1
LMPOP 2 $k $l RIGHT COUNT 2            | RPUSH $l a b c                            | LRANGE $l 0 -1
LPOP $k 2                              | RPUSH $k a b c                            | LRANGE $k 0 -1
LPUSH $k x y                           | RPUSH $k a                                | LRANGE $k 0 -1
LPUSHX $k x                            | RPUSH $k a                                | LRANGE $k 0 -1
LREM $k 0 a                            | RPUSH $k a b a                            | LRANGE $k 0 -1
LSET $k 0 x                            | RPUSH $k a b                              | LRANGE $k 0 -1
LTRIM $k 1 -1                          | RPUSH $k a b c                            | LRANGE $k 0 -1
RPOP $k                                | RPUSH $k a b c                            | LRANGE $k 0 -1
RPOPLPUSH $k $l                        | RPUSH $k a b                              | LRANGE $k 0 -1 ; LRANGE $l 0 -1
RPUSH $k x y                           | RPUSH $k a                                | LRANGE $k 0 -1
RPUSHX $k x                            |                                           | LRANGE $k 0 -1
SADD $k b c                            | SADD $k a b                               | SCARD $k
SDIFFSTORE $m $k $l                    | SADD $k a b ; SADD $l b                   | SMEMBERS $m
SINTERSTORE $m $k $l                   | SADD $k a b ; SADD $l b                   | SMEMBERS $m
SMOVE $k $l a                          | SADD $k a                                 | SMEMBERS $l
SPOP $k                                | SADD $k a                                 | EXISTS $k
SREM $k a                              | SADD $k a b                               | SMEMBERS $k
SUNIONSTORE $m $k $l                   | SADD $k a ; SADD $l b                     | SCARD $m
ZADD $k GT CH 3 a 1 b                  | ZADD $k 1 a                               | ZRANGE $k 0 -1 WITHSCORES
ZDIFFSTORE $m 2 $k $l                  | ZADD $k 1 a 2 b ; ZADD $l 9 a             | ZRANGE $m 0 -1 WITHSCORES
ZINCRBY $k 0.5 a                       | ZADD $k 1 a                               | ZSCORE $k a
ZINTERSTORE $m 2 $k $l                 | ZADD $k 1 a 2 b ; ZADD $l 9 a             | ZRANGE $m 0 -1 WITHSCORES
ZMPOP 1 $k MAX                         | ZADD $k 1 a 2 b                           | ZRANGE $k 0 -1 WITHSCORES
ZPOPMAX $k                             | ZADD $k 1 a 2 b                           | ZRANGE $k 0 -1 WITHSCORES
ZPOPMIN $k                             | ZADD $k 1 a 2 b                           | ZRANGE $k 0 -1 WITHSCORES
ZRANGESTORE $l $k 0 0                  | ZADD $k 1 a 2 b                           | ZRANGE $l 0 -1 WITHSCORES
ZREM $k a                              | ZADD $k 1 a 2 b                           | ZRANGE $k 0 -1 WITHSCORES
ZREMRANGEBYLEX $k [a [a                | ZADD $k 0 a 0 b                           | ZRANGE $k 0 -1
ZREMRANGEBYRANK $k 0 0                 | ZADD $k 1 a 2 b                           | ZRANGE $k 0 -1
ZREMRANGEBYSCORE $k 1 1                | ZADD $k 1 a 2 b                           | ZRANGE $k 0 -1
ZUNIONSTORE $m 2 $k $l WEIGHTS 2 1     | ZADD $k 1 a ; ZADD $l 9 a                 | ZRANGE $m 0 -1 WITHSCORES
HDEL $k f                              | HSET $k f v g w                           | HGETALL $k
HEXPIRE $k 100000 FIELDS 1 f           | HSET $k f v                               | HPERSIST $k FIELDS 1 f
HEXPIREAT $k 33177117420 FIELDS 1 f    | HSET $k f v                               | HEXPIRETIME $k FIELDS 1 f
HGETDEL $k FIELDS 1 f                  | HSET $k f v g w                           | HGETALL $k
HGETEX $k EXAT 33177117420 FIELDS 1 f  | HSET $k f v                               | HEXPIRETIME $k FIELDS 1 f
HINCRBY $k f 2                         | HSET $k f 1                               | HGETALL $k
HINCRBYFLOAT $k f 0.25                 | HSET $k f 1                               | HGETALL $k
HMSET $k f v                           |                                           | HGETALL $k
HPERSIST $k FIELDS 1 f                 | HSET $k f v ; HEXPIRE $k 100000 FIELDS 1 f | HTTL $k FIELDS 1 f
HPEXPIRE $k 100000000 FIELDS 1 f       | HSET $k f v                               | HPERSIST $k FIELDS 1 f
HPEXPIREAT $k 33177117420123 FIELDS 1 f | HSET $k f v                              | HPEXPIRETIME $k FIELDS 1 f
HSET $k f v g w                        | HSET $k f u                               | HGETALL $k
HSETEX $k EXAT 33177117420 FIELDS 1 f v |                                          | HGETALL $k ; HEXPIRETIME $k FIELDS 1 f
HSETNX $k f v                          | HSET $k f u                               | HGETALL $k
GEOADD $k 13.36 38.11 a                |                                           | GEOPOS $k a
GEORADIUS $k 15 37 200 km STORE $l     | GEOADD $k 13.36 38.11 a 15.08 37.50 b     | ZCARD $l
GEORADIUSBYMEMBER $k a 9 km STORE $l   | GEOADD $k 13.36 38.11 a 15.08 37.50 b     | ZCARD $l
GEOSEARCHSTORE $l $k FROMMEMBER a BYRADIUS 9 km | GEOADD $k 13.36 38.11 a 15.08 37.50 b | ZCARD $l
VADD $k VALUES 2 0 1 b NOQUANT         | VADD $k VALUES 2 1 0 a NOQUANT            | VCARD $k
VREM $k a                              | VADD $k VALUES 2 1 0 a NOQUANT            | VCARD $k
VSETATTR $k a "{\"n\":2}"              | VADD $k VALUES 2 1 0 a NOQUANT            | VGETATTR $k a
`)

/** Streams. */
export const writeStreams = rowsOf(`
XACK $k g 1-1                          | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v ; XREADGROUP GROUP g c STREAMS $k > | XPENDING $k g
XADD $k 2-1 f w                        | XADD $k 1-1 f v                           | XRANGE $k - +
XAUTOCLAIM $k g d 0 0                  | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v ; XREADGROUP GROUP g c STREAMS $k > | XPENDING $k g
XCLAIM $k g d 0 1-1                    | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v ; XREADGROUP GROUP g c STREAMS $k > | XPENDING $k g
XDEL $k 1-1                            | XADD $k 1-1 f v ; XADD $k 2-1 f w         | XRANGE $k - +
XGROUP CREATE $k g $ MKSTREAM          |                                           | XINFO GROUPS $k
XGROUP CREATECONSUMER $k g c           | XGROUP CREATE $k g 0 MKSTREAM             | XGROUP DELCONSUMER $k g c
XGROUP DELCONSUMER $k g c              | XGROUP CREATE $k g 0 MKSTREAM ; XGROUP CREATECONSUMER $k g c | XINFO CONSUMERS $k g
XGROUP DESTROY $k g                    | XGROUP CREATE $k g 0 MKSTREAM             | XINFO GROUPS $k
XGROUP SETID $k g 1-1                  | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v | XREADGROUP GROUP g c STREAMS $k >
XGROUP HELP                            |                                           | EXISTS $k
XSETID $k 9-1                          | XADD $k 1-1 f v                           | XINFO STREAM $k
XTRIM $k MAXLEN 1                      | XADD $k 1-1 f v ; XADD $k 2-1 f w         | XRANGE $k - +
`)
