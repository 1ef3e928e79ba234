export * from './connection.ts'
export * from './read-info.ts'
export * from './version.ts'
