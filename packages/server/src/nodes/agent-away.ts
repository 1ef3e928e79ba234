import { Refusal } from '@fairlead/api'

/** The refusal of a request that needs the agent, while the agent does not answer. */
export function agentAway(): Refusal {
  return new Refusal('unavailable', 'the agent does not answer right now', { wayOut: 'try again' })
}

/** The refusal of a request on a database that has just passed from one server to another, while their epochs are not settled. */
export function takenOver(): Refusal {
  return new Refusal('unavailable', 'another server takes over the database right now', {
    wayOut: 'try again',
  })
}
