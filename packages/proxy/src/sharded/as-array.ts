import { inlineAsArray } from '@fairlead/engine'

/** Returns a complete request as an array of bulk strings; converts inline commands. */
export function asArray(request: Buffer): Buffer {
  if (request[0] === STAR) return request
  return inlineAsArray(request.subarray(0, request.at(-2) === CR ? -2 : -1)) ?? nothing
}

const nothing = Buffer.from('*0\r\n')
const STAR = 0x2a
const CR = 0x0d
