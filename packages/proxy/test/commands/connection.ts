import { rowsOf } from './row.ts'

export const connection = rowsOf(`
AUTH app secret                        |                                           | ACL WHOAMI
AUTH app wrong                         |                                           | ACL WHOAMI | error
CLIENT CACHING YES                     | SET $k 1 ; CLIENT TRACKING ON OPTIN       | GET $k ; @SET $k 2 ; < | resp3 no-multi
CLIENT CAPA redirect                   |                                           | CLIENT INFO | numbers
CLIENT CAPA redirect                   | SET $k 1                                  | GET $k ; SET $k 2 ; GET $k
CLIENT GETNAME                         | CLIENT SETNAME me
CLIENT GETREDIR                        | CLIENT TRACKING ON
CLIENT ID                              |                                           |  | numbers
CLIENT IMPORT-SOURCE ON                |                                           | CLIENT INFO | error numbers
CLIENT INFO                            | CLIENT SETNAME me                         |  | numbers
CLIENT KILL ID 1                       | SET $k v                                  | GET $k | error
CLIENT LIST                            | SET $k v                                  | GET $k | error
CLIENT NO-TOUCH ON                     |                                           | CLIENT INFO | numbers
CLIENT REPLY ON                        |                                           | SET $k 1 ; GET $k
CLIENT REPLY OFF                       |                                           | SET $k 1 ; CLIENT REPLY ON ; GET $k | no-multi
CLIENT REPLY SKIP                      |                                           | SET $k 1 ; GET $k | no-multi
CLIENT SETINFO LIB-NAME lib            |                                           | CLIENT INFO | numbers
CLIENT SETNAME me                      |                                           | CLIENT GETNAME
CLIENT TRACKING ON                     | SET $k 1                                  | GET $k ; @SET $k 2 ; < | resp3
CLIENT TRACKING ON BCAST PREFIX $k     |                                           | @SET $k 2 ; < ; CLIENT TRACKINGINFO | resp3
CLIENT TRACKING OFF                    | CLIENT TRACKING ON                        | CLIENT TRACKINGINFO
CLIENT TRACKINGINFO                    | CLIENT TRACKING ON NOLOOP
CLIENT HELP
CLIENT NOSUCH                          |                                           | GET $k | error
ECHO hello
HELLO                                  |                                           | PING | numbers
HELLO 2 SETNAME me                     |                                           | CLIENT GETNAME ; GET $k | numbers
HELLO 3 AUTH app secret SETNAME me     |                                           | CLIENT GETNAME ; GET $k | numbers
HELLO 9                                |                                           | GET $k | error
PING
PING hello                             | SUBSCRIBE $k                              | PING
QUIT                                   |                                           | GET $k
RESET                                  | CLIENT SETNAME me ; WATCH $k ; MULTI      | ACL WHOAMI ; CLIENT GETNAME
SELECT 3                               | SET $k zero                               | GET $k ; SET $k three ; SELECT 0 ; GET $k
SELECT 99                              | SET $k zero                               | GET $k | error
`)
