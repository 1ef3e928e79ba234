/** This server does not hold the lease for long enough: another may already work there. Nothing was done. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor(databaseUid: number) {
    super(`another server works on database ${databaseUid}`)
  }
}
