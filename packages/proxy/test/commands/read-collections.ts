import { rowsOf } from './row.ts'

/** Lists, sets, sorted sets, hashes, places, streams and vector sets. */
export const readCollections = rowsOf(String.raw`
LINDEX $k -1                           | RPUSH $k a b c
LLEN $k                                | RPUSH $k a b c
LPOS $k b RANK -1 COUNT 0              | RPUSH $k a b c b
LRANGE $k 0 -1                         | RPUSH $k a b c
SCARD $k                               | SADD $k a b
SDIFF $k $l                            | SADD $k a b c ; SADD $l b                 |  | set
SINTER $k $l                           | SADD $k a b c ; SADD $l b c               |  | set
SINTERCARD 2 $k $l                     | SADD $k a b c ; SADD $l b c
SISMEMBER $k a                         | SADD $k a
SMEMBERS $k                            | SADD $k a b c                             |  | set
SMISMEMBER $k a z                      | SADD $k a
SRANDMEMBER $k                         | SADD $k a
SUNION $k $l                           | SADD $k a b ; SADD $l b c                 |  | set
ZCARD $k                               | ZADD $k 1 a 2 b
ZCOUNT $k (1 +inf                      | ZADD $k 1 a 2 b
ZDIFF 2 $k $l WITHSCORES               | ZADD $k 1 a 2 b ; ZADD $l 9 a
ZINTER 2 $k $l WITHSCORES              | ZADD $k 1 a 2 b ; ZADD $l 9 a
ZINTERCARD 2 $k $l                     | ZADD $k 1 a 2 b ; ZADD $l 9 a
ZLEXCOUNT $k - +                       | ZADD $k 0 a 0 b
ZMSCORE $k a z                         | ZADD $k 1.5 a
ZRANDMEMBER $k                         | ZADD $k 1 a
ZRANGE $k 0 -1 WITHSCORES              | ZADD $k 1 a 2.5 b
ZRANGEBYLEX $k [a (c                   | ZADD $k 0 a 0 b 0 c
ZRANGEBYSCORE $k 2 +inf WITHSCORES     | ZADD $k 1 a 2 b
ZRANK $k b WITHSCORE                   | ZADD $k 1 a 2 b
ZREVRANGE $k 0 -1                      | ZADD $k 1 a 2 b
ZREVRANGEBYLEX $k + -                  | ZADD $k 0 a 0 b
ZREVRANGEBYSCORE $k +inf -inf          | ZADD $k 1 a 2 b
ZREVRANK $k a                          | ZADD $k 1 a 2 b
ZSCORE $k a                            | ZADD $k 1.5 a
ZUNION 2 $k $l WITHSCORES              | ZADD $k 1 a 2 b ; ZADD $l 9 a
HEXISTS $k f                           | HSET $k f v
HEXPIRETIME $k FIELDS 2 f g            | HSET $k f v ; HEXPIREAT $k 33177117420 FIELDS 1 f
HGET $k f                              | HSET $k f v
HGETALL $k                             | HSET $k f v g w                           |  | set
HKEYS $k                               | HSET $k f v g w                           |  | set
HLEN $k                                | HSET $k f v g w
HMGET $k f z                           | HSET $k f v
HPEXPIRETIME $k FIELDS 1 f             | HSET $k f v ; HPEXPIREAT $k 33177117420123 FIELDS 1 f
HPTTL $k FIELDS 2 f z                  | HSET $k f v
HRANDFIELD $k                          | HSET $k f v
HSTRLEN $k f                           | HSET $k f val
HTTL $k FIELDS 1 f                     | HSET $k f v
HVALS $k                               | HSET $k f v g w                           |  | set
GEODIST $k a b km                      | GEOADD $k 13.36 38.11 a 15.08 37.50 b
GEOHASH $k a                           | GEOADD $k 13.36 38.11 a
GEOPOS $k a z                          | GEOADD $k 13.36 38.11 a
GEORADIUS_RO $k 15 37 200 km ASC       | GEOADD $k 13.36 38.11 a 15.08 37.50 b
GEORADIUSBYMEMBER_RO $k a 200 km ASC   | GEOADD $k 13.36 38.11 a 15.08 37.50 b
GEOSEARCH $k FROMMEMBER a BYRADIUS 9 km | GEOADD $k 13.36 38.11 a 15.08 37.50 b
XINFO CONSUMERS $k g                   | XGROUP CREATE $k g 0 MKSTREAM ; XGROUP CREATECONSUMER $k g c |  | numbers
XINFO GROUPS $k                        | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v
XINFO STREAM $k                        | XADD $k 1-1 f v
XINFO HELP
XLEN $k                                | XADD $k 1-1 f v
XPENDING $k g                          | XGROUP CREATE $k g 0 MKSTREAM ; XADD $k 1-1 f v ; XREADGROUP GROUP g c STREAMS $k >
XRANGE $k - +                          | XADD $k 1-1 f v ; XADD $k 2-1 f w
XREVRANGE $k + -                       | XADD $k 1-1 f v ; XADD $k 2-1 f w
VCARD $k                               | VADD $k VALUES 2 1 0 a NOQUANT
VDIM $k                                | VADD $k VALUES 2 1 0 a NOQUANT
VEMB $k a                              | VADD $k VALUES 2 1 0 a NOQUANT
VGETATTR $k a                          | VADD $k VALUES 2 1 0 a NOQUANT SETATTR "{\"n\":1}"
VINFO $k                               | VADD $k VALUES 2 1 0 a NOQUANT            |  | numbers
VISMEMBER $k a                         | VADD $k VALUES 2 1 0 a NOQUANT
VLINKS $k a                            | VADD $k VALUES 2 1 0 a NOQUANT            |  | kind
VRANDMEMBER $k                         | VADD $k VALUES 2 1 0 a NOQUANT
VSIM $k VALUES 2 1 0 COUNT 1           | VADD $k VALUES 2 1 0 a NOQUANT ; VADD $k VALUES 2 0 1 b NOQUANT
`)
