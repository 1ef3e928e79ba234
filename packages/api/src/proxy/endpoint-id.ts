import { Type } from 'typebox'

/** How the proxy is told which endpoint is meant. */
export const EndpointId = Type.Object({ id: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }) })

/** One of the 16,384 hash slots of cluster mode. */
export const Slot = Type.Integer({ minimum: 0, maximum: 16_383 })
