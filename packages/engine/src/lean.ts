/** For programs that must start fast: loads nothing else of this package. */
export * from './engine-users.ts'
