/** TCP ports; both ends belong to it. */
export interface PortRange {
  readonly from: number
  readonly to: number
}
