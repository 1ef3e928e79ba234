import { rowsOf } from './row.ts'

export const pubSub = rowsOf(`
SUBSCRIBE $k $l                        |                                           | @PUBLISH $l hi ; < | no-multi
SUBSCRIBE $k                           |                                           | @PUBLISH $k hi ; <
PSUBSCRIBE $k*                         |                                           | @PUBLISH $k hi ; <
SSUBSCRIBE $k                          |                                           | @SPUBLISH $k hi ; < | no-multi
UNSUBSCRIBE $k                         | SUBSCRIBE $k $l                           | @PUBLISH $k no ; @PUBLISH $l hi ; <
UNSUBSCRIBE                            | SUBSCRIBE $k                              | @PUBLISH $k no ; GET $k
PUNSUBSCRIBE $k*                       | PSUBSCRIBE $k* $l*                        | @PUBLISH $k no ; @PUBLISH $l hi ; <
SUNSUBSCRIBE $k                        | SSUBSCRIBE $k $l                          | @SPUBLISH $k no ; @SPUBLISH $l hi ; <
PUBLISH $k hi
PUBLISH $k hi                          | SUBSCRIBE $k                              | < | resp3
SPUBLISH $k hi
PUBSUB CHANNELS $k*
PUBSUB NUMPAT                          |                                           |  | numbers
PUBSUB NUMSUB $k $l
PUBSUB SHARDCHANNELS $k*
PUBSUB SHARDNUMSUB $k
PUBSUB HELP
`)
