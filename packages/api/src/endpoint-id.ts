import { Type } from 'typebox'

/** How the proxy is told which endpoint is meant. */
export const EndpointId = Type.Object({ id: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }) })

export const Slot = Type.Integer({ minimum: 0, maximum: 16_383 })
