import { Type } from 'typebox'

/** A time in a query. */
export const Moment = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?(Z|[ +-]\\d{2}:\\d{2})?)?$',
  description:
    'ISO 8601, as 2026-11-21T12:00:00Z; UTC when it has no zone. A + in a query should be written as %2B; written as it is, it arrives as a space, and is taken for a +',
})

/** Unix milliseconds; NaN for a date that does not exist. */
export function timeIn(sent: string): number {
  const moment = sent.replace(' ', '+')
  // Without a zone, the server's local time would be used.
  const time = new Date(/T[^Z+-]*$/.test(moment) ? `${moment}Z` : moment).getTime()
  const day = new Date(`${moment.slice(0, 10)}T00:00:00Z`)
  const isInCalendar = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(moment.slice(0, 10))
  return isInCalendar ? time : Number.NaN
}
