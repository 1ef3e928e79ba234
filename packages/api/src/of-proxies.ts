/**
 * The proxy's part of the contract. All schemas together would cost each proxy some megabytes at run time
 * (bench/README.md).
 */
export * from './agent/epoch-fence.ts'
export { Address } from './agent/shard-report.ts'
export * from './contract/errors.ts'
export type { Obstacle } from './contract/obstacle.ts'
export type { Input, Operation, Output } from './contract/operation.ts'
export * from './proxy/proxy-operations.ts'
export * from './proxy/proxy-turns.ts'
export * from './proxy/read-tape.ts'
export * from './proxy/traffic.ts'
