/**
 * How long after its commit is an event with its followers, and how long does a plain request take beside them? A server of its own process writes changes of one
 * action; others follow the action, and everything; a client in a process of its own asks for the action.
 * `npm run bench -- events [--followers 200] [--of-all 20] [--seconds 20] [--per-second 50] [--json]`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient, fetchStreamTransport, fetchTransport, operations } from '@fairlead/api'
import { shareOf } from './share-of.ts'
import { startAsking } from './start-asking.ts'
import { startEventServer } from './start-event-server.ts'

const { values: flags } = parseArgs({
  options: {
    followers: { type: 'string', default: '200' },
    'of-all': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
})
const [followers, ofAll] = [Number(flags.followers), Number(flags['of-all'])]
const changes = Number(flags.seconds) * Number(flags['per-second'])

await using server = await startEventServer()
const api = createClient(
  operations,
  fetchTransport(server.url),
  () => 'admin',
  fetchStreamTransport(server.url),
)
/** No request is to wait for the events of others longer than events may take themselves. */
const ANSWER_GOAL_MS = 100
const stop = new AbortController()
const delays: number[] = []

/** Followers of everything that are told of what comes. */
let live = 0

/** Follows until the action has ended; resolves to the number of changes. */
async function count(
  events: AsyncIterable<{ readonly type: string; readonly waiting_for?: string; readonly status?: string }>,
): Promise<number> {
  let seen = 0
  for await (const event of events) {
    if (event.type === 'live') live += 1
    if (event.status === 'completed') return seen
    const at = event.type === 'action' ? Number(event.waiting_for ?? '') : 0
    if (!(at > 0)) continue
    delays.push(performance.timeOrigin + performance.now() - at)
    seen += 1
  }
  return seen
}

const own = Array.from({ length: followers }, () =>
  count(api.followAction({ params: { uid: 'a' }, query: {} }, { signal: stop.signal })),
)
const all = Array.from({ length: ofAll }, () =>
  count(api.followEvents({ query: {} }, { signal: stop.signal })),
)
while (live < ofAll) await pause(100)
await using beside = startAsking(server.url)
const { cpuMs, memoryMb, earlyHeapMb, heapMb } = await server.write(
  changes,
  1_000 / Number(flags['per-second']),
)
const answers = await beside.end()
const counts = await Promise.all([...own, ...all])
stop.abort(new Error('enough'))

const share = (part: number) => shareOf(delays, part)
const result = {
  ...{
    followers,
    ofAll,
    changes,
    delivered: delays.length,
    missing: changes * counts.length - delays.length,
  },
  ...{ p50Ms: share(0.5), p99Ms: share(0.99), longestMs: share(1) },
  ...{ answers: answers.length, answerP50Ms: shareOf(answers, 0.5), answerP99Ms: shareOf(answers, 0.99) },
  ...{ answerLongestMs: shareOf(answers, 1), answerGoalMs: ANSWER_GOAL_MS },
  ...{ serverCpuMs: Math.round(cpuMs), serverMemoryMb: Math.round(memoryMb) },
  ...{ heapMbBefore: Math.round(earlyHeapMb), heapMbAfter: Math.round(heapMb) },
}
process.stdout.write(
  flags.json
    ? `${JSON.stringify(result)}\n`
    : `${followers} followers of one action and ${ofAll} of everything, ${changes} changes: ${result.delivered} delivered, ${result.missing} missing; ` +
        `p50 ${result.p50Ms} ms, p99 ${result.p99Ms} ms, longest ${result.longestMs} ms; ` +
        `${result.answers} plain requests beside them: p50 ${result.answerP50Ms} ms, p99 ${result.answerP99Ms} ms (goal ${ANSWER_GOAL_MS}), longest ${result.answerLongestMs} ms; ` +
        `the server used ${result.serverCpuMs} ms of a processor, and ${result.serverMemoryMb} MB; its heap without garbage was ${result.heapMbBefore} MB before, and ${result.heapMbAfter} MB after\n`,
)
