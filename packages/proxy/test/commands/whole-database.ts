import { rowsOf } from './row.ts'

export const wholeDatabase = rowsOf(`
DBSIZE                                 | FLUSHALL ; MSET $k 1 $l 2                 |  | alone
FLUSHALL                               | SET $k 1                                  | EXISTS $k ; DBSIZE | alone
FLUSHDB SYNC                           | SET $k 1                                  | EXISTS $k ; DBSIZE | alone
KEYS {%t}*                              | MSET $k 1 $l 2                           |  | set
RANDOMKEY                              | FLUSHALL ; SET $k 1                       |  | alone
SWAPDB 0 1                             | SET $k 1                                  | GET $k ; SELECT 1 ; GET $k ; SWAPDB 0 1 | alone
`)
