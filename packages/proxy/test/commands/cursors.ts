import { rowsOf } from './row.ts'

export const cursors = rowsOf(`
SCAN 0 MATCH {%t}* COUNT 1000000         | MSET $k 1 $l 2                           |  | set
HSCAN $k 0                             | HSET $k f v g w                           |  | set
SSCAN $k 0                             | SADD $k a b                               |  | set
ZSCAN $k 0                             | ZADD $k 1 a 2 b                           |  | set
CLUSTERSCAN 0                          |                                           |  | error
`)
