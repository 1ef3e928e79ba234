/** TCP ports, both ends included. */
export interface PortRange {
  readonly from: number
  readonly to: number
}
