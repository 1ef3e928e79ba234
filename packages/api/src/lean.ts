/** What programs take that have to start fast: the client, and the tables of words. Schemas, which cost most of the time, are left out. */
export * from './client/api-error.ts'
export * from './client/client.ts'
export * from './client/follow-stream.ts'
export * from './client/stream-transport.ts'
export * from './contract/action-words.ts'
export * from './contract/errors.ts'
export * from './without-schemas.ts'
