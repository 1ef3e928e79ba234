export * from './endpoint.ts'
export * from './proxy.ts'
