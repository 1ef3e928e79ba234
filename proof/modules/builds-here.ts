import { type BuildName, findBuild } from '../engine-pairs.ts'

/** The newest build here of each line that the modules are tried on; the first three are always here. */
export const buildsHere: readonly BuildName[] = [
  findBuild('redis', '7.0'),
  findBuild('valkey', '8.0'),
  findBuild('valkey', '8.1'),
  findBuild('valkey', '9'),
  findBuild('redis', '8.0'),
].filter((build) => build !== undefined)
