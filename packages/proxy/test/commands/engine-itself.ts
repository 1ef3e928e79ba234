import { rowsOf } from './row.ts'

/** The commands about the engine itself that a user may send. */
export const engineItself = rowsOf(`
ACL CAT string                         |                                           |  | set
ACL GENPASS                            |                                           |  | kind
ACL HELP
ACL WHOAMI
COMMAND                                |                                           |  | kind
COMMAND COUNT
COMMAND DOCS GET SET                   |                                           |  | set
COMMAND GETKEYS MSET a b c d
COMMAND GETKEYSANDFLAGS MSET a b c d
COMMAND HELP
COMMAND INFO GET SET
COMMAND LIST FILTERBY ACLCAT string    |                                           |  | set
COMMANDLOG HELP
CONFIG HELP
INFO server                            |                                           |  | kind
LATENCY HELP
LOLWUT VERSION 5 1 1 1                 |                                           |  | numbers
MEMORY DOCTOR                          |                                           |  | kind
MEMORY HELP
MEMORY MALLOC-STATS                    |                                           |  | kind
MEMORY PURGE
MEMORY STATS                           |                                           |  | kind
MODULE HELP
SLOWLOG HELP
TIME                                   |                                           |  | numbers
`)

/** Commands of clusters: the endpoint is not a cluster, so it answers as an engine outside of one. */
export const cluster = rowsOf(`
ASKING                                 |                                           | GET $k | error
CLUSTER COUNTKEYSINSLOT 1              |                                           |  | error
CLUSTER GETKEYSINSLOT 1 1              |                                           |  | error
CLUSTER HELP                           |                                           |  | error
CLUSTER INFO                           |                                           |  | error
CLUSTER KEYSLOT k                      |                                           |  | may-fail
CLUSTER LINKS                          |                                           |  | error
CLUSTER MYID                           |                                           |  | error
CLUSTER MYSHARDID                      |                                           |  | error
CLUSTER NODES                          |                                           |  | error
CLUSTER SHARDS                         |                                           |  | error
CLUSTER SLOT-STATS SLOTSRANGE 0 1      |                                           |  | error
CLUSTER SLOTS                          |                                           |  | error
READONLY                               |                                           | GET $k | may-fail
READWRITE                              |                                           | GET $k | may-fail
`)
