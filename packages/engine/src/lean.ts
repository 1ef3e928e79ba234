/** What programs take that have to start fast: it loads nothing else of this package. */
export * from './engine-users.ts'
