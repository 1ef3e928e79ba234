/**
 * A library of functions that was written for redis 7.0, and breaks when a newer engine loads it: no upgrade
 * can take it along.
 */
export const libraryOfOldDays = `#!lua name=old
  if redis.REDIS_VERSION_NUM >= 0x00070100 then redis.not_any_more() end
  redis.register_function('one', function() return 1 end)`
