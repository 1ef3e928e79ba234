import { rowsOf } from './row.ts'

/** `%t` is the row's tag, `%h` the SHA-1 of the script "return '%t'". */
export const scripts = rowsOf(String.raw`
EVAL "return redis.call('INCR', KEYS[1])" 1 $k | SET $k 1                         | GET $k
EVAL "return {1, 'two', {3, false}}" 0
EVAL "return redis.error_reply('MINE it is')" 0 |                                 | GET $k | error
EVAL "return '%t'" 0                   |                                          | EVALSHA %h 0
EVAL_RO "return redis.call('GET', KEYS[1])" 1 $k | SET $k v
EVALSHA %h 0                           | SCRIPT LOAD "return '%t'"                | EVALSHA %h 0
EVALSHA_RO %h 1 $k                     | SCRIPT LOAD "return '%t'"                | EVALSHA %h 0
SCRIPT EXISTS %h                       | SCRIPT LOAD "return '%t'"
SCRIPT LOAD "return '%t'"              |                                          | EVALSHA %h 0
SCRIPT SHOW %h                         | SCRIPT LOAD "return '%t'"
SCRIPT FLUSH                           | SCRIPT LOAD "return '%t'"                | SCRIPT EXISTS %h | alone
SCRIPT KILL                            |                                          | GET $k | error
SCRIPT HELP
FCALL %t 1 $k                          | FUNCTION LOAD "#!lua name=%t\nredis.register_function('%t', function(keys) return redis.call('INCR', keys[1]) end)" | GET $k
FCALL_RO %t 1 $k                       | FUNCTION LOAD "#!lua name=%t\nredis.register_function{function_name='%t', callback=function(keys) return keys[1] end, flags={'no-writes'}}"
FUNCTION LOAD "#!lua name=%t\nredis.register_function('%t', function() return 1 end)" | | FCALL %t 0
FUNCTION DELETE %t                     | FUNCTION LOAD "#!lua name=%t\nredis.register_function('%t', function() return 1 end)" | FUNCTION LIST LIBRARYNAME %t
FUNCTION LIST LIBRARYNAME %t WITHCODE  | FUNCTION LOAD "#!lua name=%t\nredis.register_function('%t', function() return 1 end)"
FUNCTION DUMP                          | FUNCTION FLUSH ; FUNCTION LOAD "#!lua name=one\nredis.register_function('one', function() return 1 end)" | | alone
FUNCTION RESTORE "\xf5\xc3@E@J\x1f#!lua name=saved\nredis.register_\tfunction('\x60\x1e\x02', \xe0\x00\x11\x0e) return 1 end)\n\x00\x82\x19\x01\xffU~\xfa[" | FUNCTION FLUSH                           | FCALL saved 0 ; FUNCTION LIST | alone
FUNCTION FLUSH                         | FUNCTION LOAD REPLACE "#!lua name=one\nredis.register_function('one', function() return 1 end)" | FUNCTION LIST | alone
FUNCTION STATS                         | | | numbers
FUNCTION KILL                          | | | error
FUNCTION HELP
`)
