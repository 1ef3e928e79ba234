import { rowsOf } from './row.ts'

export const transactions = rowsOf(`
MULTI                                  |                                           | SET $k 1 ; INCR $k ; EXEC ; GET $k
EXEC                                   | MULTI ; SET $k 1 ; INCR $k                | GET $k
EXEC                                   | MULTI ; SET $k 1 ; INCR                   | GET $k | error
EXEC                                   | MULTI ; SET $k text ; INCR $k ; SET $l 1  | MGET $k $l
EXEC                                   | SET $k 1 ; WATCH $k ; @SET $k 2 ; MULTI ; INCR $k | GET $k ; MULTI ; INCR $k ; EXEC
EXEC                                   | MULTI ; SELECT 3 ; SET $k three           | GET $k ; SELECT 0 ; GET $k
EXEC                                   | SET $k 1 ; WATCH $k ; @SET $k 2 ; MULTI ; SELECT 5 ; SET $k x | GET $k
EXEC                                   | MULTI ; SELECT 99 ; SET $k x              | GET $k
EXEC                                   |                                           | GET $k | error
DISCARD                                | MULTI ; SET $k 1                          | GET $k
DISCARD                                |                                           | GET $k | error
WATCH $k                               | SET $k 1                                  | MULTI ; SET $k 2 ; EXEC ; GET $k
WATCH $k                               | SET $k 1                                  | @SET $k 9 ; MULTI ; SET $k 2 ; EXEC ; GET $k
UNWATCH                                | SET $k 1 ; WATCH $k                       | @SET $k 9 ; MULTI ; SET $k 2 ; EXEC ; GET $k
`)
