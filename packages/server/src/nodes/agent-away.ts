import { Refusal } from '@fairlead/api'

/** Refuses a request that needs an unreachable agent. */
export function agentAway(): Refusal {
  return new Refusal('unavailable', 'the agent does not answer right now', { wayOut: 'try again' })
}

/** Refuses a request on a database that has just moved to another server, until epochs are settled. */
export function takenOver(): Refusal {
  return new Refusal('unavailable', 'another server takes over the database right now', {
    wayOut: 'try again',
  })
}
