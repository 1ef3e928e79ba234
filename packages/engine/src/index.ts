export * from './connection.ts'
export * from './read-cluster-nodes.ts'
export * from './read-info.ts'
export * from './version.ts'
