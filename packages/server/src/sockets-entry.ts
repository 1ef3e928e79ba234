/**
 * What programs take that have to start fast: where the server of this machine is found. It loads nothing
 * else of this package.
 */
export { findOperatorSocket, homeOf } from './config/sockets.ts'
