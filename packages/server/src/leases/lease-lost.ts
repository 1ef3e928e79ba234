/** The lease does not last long enough: another server may already work there. Nothing was done. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor(databaseUid: number) {
    super(`another server works on database ${databaseUid}`)
  }
}
