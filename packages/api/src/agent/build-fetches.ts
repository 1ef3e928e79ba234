import { type Static, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { fetchFaults, fetchStates } from '../contract/fetch-faults.ts'
import { socketOperation } from '../contract/operation.ts'
import { FoundBuild } from './found-build.ts'

/** An engine build to fetch. */
export const WantedBuild = closed({
  flavour: Type.String(),
  /** "8.1" or "8.1.1"; null: the newest in a suite of Debian. */
  version: Type.Union([Type.String(), Type.Null()]),
  /** Also from suites in development. */
  alsoUnstable: Type.Boolean(),
})
export type WantedBuild = Static<typeof WantedBuild>

/** A fetch of an engine build; times are Unix milliseconds. */
export const BuildFetch = Type.Object({
  id: Type.String(),
  ...WantedBuild.properties,
  state: Type.Enum(fetchStates),
  /** The last line of its progress. */
  line: Type.String(),
  /** One line with the reason; null: it has not failed. */
  fault: Type.Union([Type.Object({ code: Type.Enum(fetchFaults), why: Type.String() }), Type.Null()]),
  /** The build that is here now; null: not yet. */
  build: Type.Union([FoundBuild, Type.Null()]),
  startedAt: Type.Integer(),
  endedAt: Type.Union([Type.Integer(), Type.Null()]),
})
export type BuildFetch = Static<typeof BuildFetch>

/** Server → agent. Answers with the running fetch of the same build, if there is one. Changes no shard. */
export const startFetch = socketOperation({
  method: 'POST',
  path: '/agent/builds/fetches',
  summary: "Begin to fetch a build from Debian's suites. Two are fetched at a time; others are refused",
  body: WantedBuild,
  ok: BuildFetch,
  errors: ['too_many_requests'],
})

/** Server → agent. They are in memory, so an agent that was started again knows none. */
export const listFetches = socketOperation({
  method: 'GET',
  path: '/agent/builds/fetches',
  summary: 'The running fetches of builds and the last ones, the newest first',
  ok: Type.Array(BuildFetch),
})
