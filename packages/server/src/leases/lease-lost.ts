/** This server does not hold the lease any more, or not for long enough: another one may work there already. Nothing was done. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor(databaseUid: number) {
    super(`another server works on database ${databaseUid}`)
  }
}
