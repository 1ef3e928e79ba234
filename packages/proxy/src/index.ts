export * from './endpoint/endpoint.ts'
export * from './program/proxy.ts'
